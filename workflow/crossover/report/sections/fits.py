"""Straight lines of time over message size: the cost of a message and of a byte, segment by segment."""

from __future__ import annotations

from collections.abc import Iterable

from crossover.report.base import numbers
from crossover.report.base.tables import Row, place

HEADER = ["experiment", "protocol", "arm", "sizes", "per message", "bytes per second", "begins at", "misfit"]

UNKNOWN = "–"


def lines(fits: Iterable[Row]) -> list[list[str]]:
    """A line for each segment of each arm, under HEADER, without the null arm, which repeats the reference."""
    return [
        [place(row), row["protocol"], f"`{row['arm']}`", *(_segment(row) if row["segments"] else _none(row))]
        for row in fits
        if not row["null"]
    ]


def _segment(row: Row) -> list[str]:
    return [
        numbers.bracket(row["first_bytes"], row["last_bytes"], "bytes"),
        _interval(row, "latency_seconds", "s"),
        _interval(row, "rate_bytes", "bytes", "/s"),
        _interval(row, "break_bytes", "bytes"),
        numbers.percent(row["misfit"]),
    ]


def _none(row: Row) -> list[str]:
    cells = numbers.counted(row["cells"], "point")
    why = "not replicated" if row["launches"] < 2 else f"too few points: {cells} in the same launches"
    return [why, *[UNKNOWN] * 4]


def _interval(row: Row, name: str, unit: str, per: str = "") -> str:
    if row[name] is None:
        return UNKNOWN
    value, low, high = (numbers.quantity(row[f"{name}{end}"], unit, 2) + per for end in ("", "_low", "_high"))
    return f"{value} [{low}, {high}]"
