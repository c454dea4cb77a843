"""Thresholds, from which an arm reaches a level such as half efficiency: a table and sentences per panel."""

from __future__ import annotations

from crossover.report.base import numbers
from crossover.report.base.tables import Panel, Row

HEADER = ["protocol", "arm", "level", "reached", "between measured points"]


def lines(panel: Panel) -> list[list[str]]:
    """A line for each arm and level, under HEADER."""
    return [
        [
            panel.title,
            f"`{row['arm']}`",
            _level(row),
            _reached(row),
            numbers.bracket(row["bracket_low"], row["bracket_high"], row["axis_unit"]),
        ]
        for level in levels(panel)
        for row in _of_level(panel, level)
    ]


def sentences(panel: Panel) -> str:
    """The threshold of each level, arm by arm; empty for a metric without levels."""
    parts = []
    for level in levels(panel):
        rows = _of_level(panel, level)
        clauses = [f"`{row['arm']}` {_reached(row)}" for row in rows]
        parts.append(f"{panel.metric.capitalize()} of at least {_level(rows[0])}: {'; '.join(clauses)}.")
    return " ".join(parts)


def levels(panel: Panel) -> list[float]:
    """The levels, rising; most metrics have none."""
    return sorted({row["level"] for row in panel.thresholds})


def _of_level(panel: Panel, level: float) -> list[Row]:
    """In the order of the arms, without the null arm, which repeats the reference."""
    found = {row["arm"]: row for row in panel.thresholds if row["level"] == level}
    return [found[arm] for arm in panel.arms if arm in found and arm != panel.null]


def _level(row: Row) -> str:
    return numbers.percent(row["level"])


def _reached(row: Row) -> str:
    """The verdict, to follow the name of an arm."""
    unit = row["axis_unit"]
    if row["launches"] < 2:
        return "not replicated"
    match row["verdict"]:
        case "from":
            return f"from **{numbers.position(row['x'], row['low'], row['high'], unit)}** on"
        case "up to":
            return f"up to **{numbers.position(row['x'], row['low'], row['high'], unit)}**"
        case "always":
            return "at every measured point"
        case "never":
            return "at no measured point"
        case "at the latest":
            return f"at the latest from {numbers.quantity(row['bracket_high'], unit)} on"
        case "not yet":
            return f"not yet at {numbers.quantity(row['bracket_low'], unit)}, undecided beyond"
        case "several":
            return "on and off, several times along the axis"
        case _:
            return "undecided"
