"""The crossovers of a panel, as lines of a table."""

from __future__ import annotations

from crossover.report.base import numbers
from crossover.report.base.tables import Panel, Row
from crossover.report.sentences import findings

HEADER = ["protocol", "arms", "verdict", "crossover", "between measured points"]


def lines(panel: Panel) -> list[list[str]]:
    """A line for each arm that was compared with the reference, under HEADER."""
    return [
        [
            panel.title,
            f"`{arm}` / `{panel.reference}`",
            findings.verdict(panel, arm),
            *_place(row, findings.possible_range(panel, arm)),
        ]
        for arm in panel.rivals
        if (row := panel.crossover_of(arm))
    ]


def _place(row: Row, possible: str) -> tuple[str, str]:
    """The crossover and the measured points around it; without a single crossover, its possible range."""
    if row["launches"] < 2 or row["verdict"] != "one" or row["x"] is None:
        return f"if any, {possible}" if possible else "–", "–"
    unit = row["axis_unit"]
    bracket = numbers.bracket(row["bracket_low"], row["bracket_high"], unit)
    return numbers.position(row["x"], row["low"], row["high"], unit), bracket
