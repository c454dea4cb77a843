"""The agreement of short blocks with long ones, as measured by the developers."""

from collections.abc import Sequence

from crossover.config.block_lengths import LongBlock
from crossover.report.base import numbers

TOLERATED = 0.03
"""Smaller differences are not listed."""


def sentence(rows: Sequence[LongBlock]) -> str:
    """The numbers of arms that agree, differ, or are undecided, in words; empty without rows."""
    if not rows:
        return ""
    agree = sum(row.low >= 1 - TOLERATED and row.high <= 1 + TOLERATED for row in rows)
    differ = len(differing(rows))
    first, last = min(row.date for row in rows), max(row.date for row in rows)
    when = first if first == last else f"{first} to {last}"
    return (
        "The developers compared blocks with long blocks in the same rounds, for "
        f"{numbers.counted(len(rows), 'arm')} at single points ({when}, `make bench-blocks`). "
        f"{agree} agreed within {numbers.percent(TOLERATED)}. {differ} differed significantly by more; chance alone "
        f"gives about one in {numbers.odds()}. For {len(rows) - agree - differ}, the noise was too large to decide. "
        "The null arm is the reference again."
    )


def differing(rows: Sequence[LongBlock]) -> list[LongBlock]:
    """The rows that differ significantly, and by more than TOLERATED."""
    least, most = 1 - TOLERATED, 1 + TOLERATED
    return [row for row in rows if not (least <= row.ratio <= most or row.low <= 1 <= row.high)]


def lines(rows: Sequence[LongBlock]) -> list[dict[str, str]]:
    """A line for each row that differs."""
    return [
        {
            "experiment": f"`{row.experiment}`",
            "protocol": row.protocol,
            "arm": row.arm,
            "metric": row.metric,
            "at": numbers.quantity(row.x, row.axis_unit),
            "block": numbers.duration(row.block_seconds),
            "long block": numbers.duration(row.long_seconds),
            "long / short": numbers.ratio(row.ratio, row.low, row.high),
        }
        for row in differing(rows)
    ]
