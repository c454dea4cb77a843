"""The agreement of short blocks with long ones, as measured by the developers."""

import math
from collections.abc import Sequence

from crossover.config.block_lengths import DETECTABLE, LongBlock
from crossover.report.base import numbers


def sentence(rows: Sequence[LongBlock]) -> str:
    """The comparison, the difference that it would have shown, and the largest one; empty without rows."""
    if not rows:
        return ""
    first, last = min(row.date for row in rows), max(row.date for row in rows)
    when = first if first == last else f"{first} to {last}"
    long_seconds = min(row.long_seconds for row in rows)
    different = [row for row in rows if not row.low <= 1 <= row.high]
    count = f"{len(different)} {'differs' if len(different) == 1 else 'differ'}"
    return (
        f"The developers compared blocks with blocks of {numbers.duration(long_seconds)} in the same rounds, for "
        f"{numbers.counted(len(rows), 'arm')} at single points ({when}, `make bench-blocks`), where a difference of "
        f"{numbers.percent(DETECTABLE)} would have been seen: {count} significantly (chance alone gives about one in "
        f"{numbers.odds()}){_most(different)}."
    )


def _most(different: Sequence[LongBlock]) -> str:
    if not different:
        return ""
    most = max(different, key=lambda row: abs(math.log(row.ratio)))
    ratio = numbers.ratio(most.ratio, most.low, most.high)
    where = f"{most.protocol}, {numbers.quantity(most.x, most.axis_unit)}"
    return f", most of all `{most.arm}` in {most.metric} of `{most.experiment}` ({where}): long / short is {ratio}"
