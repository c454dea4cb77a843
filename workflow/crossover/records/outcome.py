"""The outcome of a comparison at one point of the axis: which arm is better, by how much, and how sure that is.

Everything that shows or uses a comparison reads this type. The analysis decides `verdict` and stores it in the table of
ratios (docs/data.md, "Outcomes").
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from crossover.records.rows import Ratio

BETTER, WORSE, ALIKE, OPEN = "better", "worse", "alike", "open"
"""The verdicts on an arm: better or worse than the reference beyond chance and possible bias; alike, that is within the
factor KNOWN; or open."""

WINNER, SETTLED = "winner", "settled"
"""The verdicts on a choice between arms (docs/data.md, "Choices"): it is surely the best arm; it is surely at most
KNOWN times worse than the best; or OPEN."""

SURE, SAFER = "sure", "safer"
"""The kinds of changes of a choice along the axis: the arm before is surely beaten from some point of the new choice's
part on; or both may be best there, and the new one has the lower bound."""

VERDICTS = (BETTER, ALIKE, OPEN, WORSE)

KNOWN = 1.25
"""A ratio counts as known if it is surely beyond this factor, or surely within it."""

HORIZON = 4
"""The launches that would decide an open point are known up to this multiple of the present number."""


@dataclass(frozen=True)
class Outcome:
    """An arm compared with the reference at one point of the axis."""

    verdict: str
    ratio: float
    """The arm's value divided by the reference's."""
    low: float | None
    high: float | None
    """Ends of the interval for chance alone; None without replication."""
    bias: float | None
    """The possible bias, as a factor of at least 1; None if no null arm was replicated."""
    launches: int

    @classmethod
    def of(cls, row: Ratio) -> Outcome:
        """The outcome in a row of record.RATIOS."""
        return cls(row.verdict or OPEN, row.ratio, row.low, row.high, row.smallest_effect, row.launches)

    @property
    def is_decided(self) -> bool:
        """Whether one of the two arms is better."""
        return self.verdict in (BETTER, WORSE)

    @property
    def margin(self) -> float:
        """Half the width of the interval for chance and bias together, as a logarithm; infinite if unknown."""
        if self.low is None or self.high is None or self.bias is None:
            return math.inf
        return math.hypot(math.log(self.high / self.low) / 2, math.log(self.bias))

    @property
    def least(self) -> float:
        """The smallest factor, at least 1, by which the arms can differ, whichever is better."""
        return math.exp(max(abs(math.log(self.ratio)) - self.margin, 0))

    @property
    def most(self) -> float:
        """The largest factor by which the arms can differ, whichever is better; infinite if unknown."""
        return math.exp(abs(math.log(self.ratio)) + self.margin)
