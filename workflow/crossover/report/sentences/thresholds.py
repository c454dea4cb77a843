"""Thresholds, from which an arm reaches a level such as half efficiency: a table and sentences per panel."""

from crossover.records.outcome import OPEN
from crossover.report.base import numbers
from crossover.report.base.tables import Panel, Row

WORDS = {
    "from": "from **{at}** on",
    "up to": "up to **{at}**",
    "always": "at every measured point",
    "never": "at no measured point",
    "at the latest": "at the latest from {high} on",
    "partly": "at some measured points, open at the last",
    "not yet": "not yet at {low}, open beyond",
    "several": "on and off, several times along the axis",
}
"""The words for each verdict: the threshold with its interval, or the measured points around it."""


def lines(panel: Panel) -> list[dict[str, str]]:
    """A line for each arm and level."""
    return [
        {
            "protocol": panel.title,
            "arm": f"`{row['arm']}`",
            "level": numbers.percent(level),
            "reached": reached(row),
            "between measured points": numbers.bracket(row["bracket_low"], row["bracket_high"], row["axis_unit"]),
        }
        for level in levels(panel)
        for row in _of_level(panel, level)
    ]


def sentences(panel: Panel) -> str:
    """The threshold of each level, arm by arm; empty for a metric without levels."""
    parts = []
    for level in levels(panel):
        clauses = [f"`{row['arm']}` {reached(row)}" for row in _of_level(panel, level)]
        parts.append(f"{panel.metric.capitalize()} of at least {numbers.percent(level)}: {'; '.join(clauses)}.")
    return " ".join(parts)


def levels(panel: Panel) -> list[float]:
    """The levels, rising; most metrics have none."""
    return sorted({row["level"] for row in panel.thresholds})


def _of_level(panel: Panel, level: float) -> list[Row]:
    """In the order of the arms, without the null arm, which repeats the reference."""
    found = {row["arm"]: row for row in panel.thresholds if row["level"] == level}
    return [found[arm] for arm in panel.arms if arm in found and arm != panel.null]


def reached(row: Row) -> str:
    """The verdict, to follow the name of an arm."""
    if row["launches"] < 2:
        return "not replicated"
    unit = row["axis_unit"]
    at = "" if row["x"] is None else numbers.position(row["x"], row["low"], row["high"], unit)
    ends = (row["bracket_low"], row["bracket_high"])
    low, high = ("" if end is None else numbers.quantity(end, unit) for end in ends)
    return WORDS.get(row["verdict"], OPEN).format(at=at, low=low, high=high)
