"""The crossovers and the ratios of panels, as lines of tables."""

from collections.abc import Sequence

from crossover.report.base import numbers
from crossover.report.base.tables import Panel, Row
from crossover.report.sentences import findings

SAMPLED_POINTS = 5


def lines(panel: Panel) -> list[dict[str, str]]:
    """A line for each arm that was compared with the reference."""
    return [
        {
            "protocol": panel.title,
            "arms": f"`{arm}` / `{panel.reference}`",
            "verdict": findings.verdict(panel, arm),
            **_place(row, findings.possible_range(panel, arm)),
        }
        for arm in panel.rivals
        if (row := panel.crossover_of(arm))
    ]


def _place(row: Row, possible: str) -> dict[str, str]:
    """The crossover and the measured points around it; without a single crossover, its possible range."""
    where, around = f"none found; one could lie {possible}" if possible else "–", "–"
    if row["launches"] > 1 and row["verdict"] == "one" and row["x"] is not None:
        where = numbers.position(row["x"], row["low"], row["high"], row["axis_unit"])
        around = numbers.bracket(row["bracket_low"], row["bracket_high"], row["axis_unit"])
    return {"crossover": where, "between measured points": around}


def ratios(panels: Sequence[Panel]) -> list[dict[str, str]]:
    """A line for each arm that was compared, with its ratios at a few points of the axis, including both ends."""
    curves = [(panel, arm) for panel in panels for arm in panel.compared]
    places = sorted({cell["x"] for panel, arm in curves for cell in panel.ratios_of(arm)})
    steps = range(SAMPLED_POINTS)
    shown = list(dict.fromkeys(places[round(step * (len(places) - 1) / steps[-1])] for step in steps if places))
    lines = []
    for panel, arm in curves:
        cells = {cell["x"]: numbers.ratio(cell["ratio"], cell["low"], cell["high"]) for cell in panel.ratios_of(arm)}
        at = {numbers.quantity(x, panels[0].facts["axis_unit"]): cells.get(x, "–") for x in shown}
        lines.append({"protocol": panel.title, "arms": f"`{arm}` / `{panel.reference}`"} | at)
    return lines
