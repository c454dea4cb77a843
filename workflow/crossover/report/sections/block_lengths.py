"""How far short blocks give what long ones do, as it was measured when the program was written."""

from __future__ import annotations

from collections.abc import Sequence

from crossover.config.block_lengths import Held
from crossover.report.base import numbers

HEADER = ["experiment", "protocol", "arm", "metric", "at", "block", "long block", "long / short"]

TOLERATED = 0.03
"""A difference that is not worth a word."""


def sentence(rows: Sequence[Held]) -> str:
    """How many arms agree, differ, or cannot be told, in words; empty without rows."""
    if not rows:
        return ""
    agree = sum(row.low >= 1 - TOLERATED and row.high <= 1 + TOLERATED for row in rows)
    differ = len(differing(rows))
    first, last = min(row.date for row in rows), max(row.date for row in rows)
    when = first if first == last else f"{first} to {last}"
    return (
        f"The developers held {numbers.counted(len(rows), 'arm')} at single points against long blocks in the same "
        f"rounds ({when}, `make bench-blocks`). {agree} agreed within {numbers.percent(TOLERATED)}, {differ} differed "
        f"by more (listed below), and for {len(rows) - agree - differ} the noise was too large to tell."
    )


def differing(rows: Sequence[Held]) -> list[Held]:
    """Those that differ by more than is tolerated, and significantly."""
    return [row for row in rows if abs(row.ratio - 1) > TOLERATED and not row.low <= 1 <= row.high]


def lines(rows: Sequence[Held]) -> list[list[str]]:
    """A line for each that differs, under HEADER."""
    return [
        [
            f"`{row.experiment}`",
            row.protocol,
            row.arm,
            row.metric,
            numbers.quantity(row.x, row.axis_unit),
            numbers.duration(row.block_seconds),
            numbers.duration(row.long_seconds),
            numbers.ratio(row.ratio, row.low, row.high),
        ]
        for row in differing(rows)
    ]
