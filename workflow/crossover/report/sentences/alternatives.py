"""Alternative texts of charts, for readers who cannot see them. No number in them is typed."""

from __future__ import annotations

from crossover.report.base import numbers
from crossover.report.base.tables import Panel, Row
from crossover.report.sentences import findings, thresholds


def curve(panel: Panel) -> str:
    """The ends of each arm's curve, and the best arm at both ends of the axis, as plain sentences."""
    axis = panel.facts["axis"]
    told = [_course(panel, arm) for arm in panel.arms if arm != panel.null]
    best = _best(panel)
    return _plain(
        f"Chart of {panel.metric} against {axis}, {panel.title}; {panel.facts['better']} is better. "
        f"{' '.join(filter(None, told))} {best} {thresholds.sentences(panel)}"
    )


def ratio(panel: Panel) -> str:
    """The findings on the arms' ratios to the reference."""
    return _plain(f"Chart of {panel.metric} relative to {panel.reference}. {findings.findings(panel)}")


def _course(panel: Panel, arm: str) -> str:
    cells = [row for row in panel.summary if row["arm"] == arm]
    if not cells:
        return ""
    first, last = cells[0], cells[-1]
    if len(cells) == 1:
        return f"{arm}: {_value(first)} at {_place(first)}."
    return f"{arm}: {_value(first)} at {_place(first)}, {_value(last)} at {_place(last)}."


def _best(panel: Panel) -> str:
    """The arm with the best median at either end of the axis; ceilings do not count."""
    rivals = [row for row in panel.summary if not (row["null"] or row["ceiling"])]
    choose = max if panel.facts["better"] == "higher" else min
    places = [row["x"] for row in rivals]
    told = []
    for place in dict.fromkeys((min(places, default=None), max(places, default=None))):
        here = [row for row in rivals if row["x"] == place]
        if len(here) > 1:
            ahead = choose(here, key=lambda row: float(row["median"]))
            told.append(f"{ahead['arm']} at {_place(ahead)}")
    return f"The best median has {numbers.listed(told)}." if told else ""


def _value(row: Row) -> str:
    return numbers.quantity(row["median"], row["unit"])


def _place(row: Row) -> str:
    return numbers.quantity(row["x"], row["axis_unit"])


def _plain(text: str) -> str:
    return " ".join(text.replace("**", "").replace("`", "").split())
