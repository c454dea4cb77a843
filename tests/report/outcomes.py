"""The verdicts on synthetic ratios and their crossovers, as the analysis decides them without a possible bias."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from crossover.records.outcome import ALIKE, BETTER, HORIZON, KNOWN, OPEN, WORSE

Row = dict[str, Any]


def outcome(ratio: float, ends: tuple[float, float] | None, better: str = "higher", launches: int = 3) -> Row:
    """The columns of record.RATIOS on an outcome."""
    found: Row = {"ratio": ratio, "low": None, "high": None, "verdict": OPEN, "launches": launches}
    found |= {"better": better, "smallest_effect": None, "launches_needed": None}
    if ends is None:
        return found
    low, high = ends
    found |= {"low": low, "high": high, "smallest_effect": 1.0}
    if not low <= 1 <= high:
        return found | {"verdict": BETTER if (low > 1) == (better == "higher") else WORSE}
    if low >= 1 / KNOWN and high <= KNOWN:
        return found | {"verdict": ALIKE}
    distance, width = abs(math.log(ratio)), math.log(high / low) / 2
    for more in range(launches + 1, HORIZON * launches + 1):
        narrow = width * math.sqrt(launches / more)
        if narrow < distance or distance + narrow <= math.log(KNOWN):
            return found | {"launches_needed": more}
    return found


def crossover(verdicts: Sequence[str]) -> str:
    """The verdict on a crossover that follows from those of its cells."""
    decided = [verdict for verdict in verdicts if verdict in (BETTER, WORSE)]
    changes = sum(one != other for one, other in pairwise(decided))
    if changes:
        return "one" if changes == 1 else "several"
    if decided:
        return "always" if len(decided) == len(verdicts) else "none"
    return ALIKE if set(verdicts) == {ALIKE} else OPEN
