"""Alternative texts of charts, for readers who cannot see them. No number in them is typed."""

from __future__ import annotations

from crossover.report.base import markup, numbers
from crossover.report.base.tables import Panel, Row, competes
from crossover.report.sentences import findings, thresholds


def curve(panel: Panel) -> str:
    """The ends of each arm's curve, and the best arm at both ends of the axis, as plain sentences."""
    axis = panel.facts["axis"]
    ends = [_ends(panel, arm) for arm in panel.arms if arm != panel.null]
    best = _best(panel)
    return _plain(
        f"Chart of {panel.metric} against {axis}, {panel.title}; {panel.facts['better']} is better. "
        f"{' '.join(filter(None, ends))} {best} {thresholds.sentences(panel)}"
    )


def ratio(panel: Panel) -> str:
    """The findings on the arms' ratios to the reference."""
    return _plain(f"Chart of {panel.metric} relative to {panel.reference}. {findings.findings(panel)}")


def _ends(panel: Panel, arm: str) -> str:
    cells = [row for row in panel.summary if row["arm"] == arm]
    if not cells:
        return ""
    first, last = cells[0], cells[-1]
    if len(cells) == 1:
        return f"{arm}: {_value(first)} at {_place(first)}."
    return f"{arm}: {_value(first)} at {_place(first)}, {_value(last)} at {_place(last)}."


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


def _value(row: Row) -> str:
    return numbers.quantity(row["median"], row["unit"])


def _place(row: Row) -> str:
    return numbers.quantity(row["x"], row["axis_unit"])


def _plain(text: str) -> str:
    return " ".join(markup.plain(text).split())
