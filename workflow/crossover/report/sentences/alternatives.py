"""Alternative texts of charts, for readers who cannot see them. No number in them is typed."""

from crossover.report.base import markup, numbers
from crossover.report.base.tables import Panel, Row, competes
from crossover.report.sentences import findings, thresholds


def curve(panel: Panel) -> str:
    """The ends of each arm's curve, and the best arm at both ends of the axis, as plain sentences."""
    curves = ([row for row in panel.summary if row["arm"] == arm] for arm in panel.arms if arm != panel.null)
    ends = " ".join(_ends(cells) for cells in curves if cells)
    return _plain(
        f"Chart of {panel.metric} against {panel.facts['axis']}, {panel.title}; {panel.facts['better']} is better. "
        f"{ends} {_best(panel)} {thresholds.sentences(panel)}"
    )


def ratio(panel: Panel) -> str:
    """The findings on the arms' ratios to the reference."""
    return _plain(f"Chart of {panel.metric} relative to {panel.reference}. {findings.findings(panel)}")


def _ends(curve: list[Row]) -> str:
    ends = [curve[0], curve[-1]] if len(curve) > 1 else curve
    values = (f"{numbers.quantity(row['median'], row['unit'])} at {_place(row)}" for row in ends)
    return f"{curve[0]['arm']}: {', '.join(values)}."


def _best(panel: Panel) -> str:
    """The arm with the best median at either end of the axis; ceilings do not count."""
    competing = [row for row in panel.summary if competes(row)]
    choose = max if panel.facts["better"] == "higher" else min
    places = [row["x"] for row in competing]
    named = []
    for place in dict.fromkeys((min(places, default=None), max(places, default=None))):
        there = [row for row in competing if row["x"] == place]
        if len(there) > 1:
            best = choose(there, key=lambda row: float(row["median"]))
            named.append(f"{best['arm']} at {_place(best)}")
    return f"The best median has {numbers.listed(named)}." if named else ""


def _place(row: Row) -> str:
    return numbers.quantity(row["x"], row["axis_unit"])


def _plain(text: str) -> str:
    return " ".join(markup.plain(text).split())
