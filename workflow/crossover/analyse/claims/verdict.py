"""The verdict on a claim and its reason, as docs/data.md defines them under "Claim verdicts".

Refutations are corrected for several numbers (Holm). That all their intervals lie within needs no correction.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from crossover.analyse.claims.result import ONE_LAUNCH, Known, Place, Result
from crossover.analyse.estimators.sensitivity import NO_NULL
from crossover.analyse.statistics.intervals import Floats, holm
from crossover.records.record import SIGNIFICANCE

Verdict = Literal["holds", "refuted", "open", "not measured"]


@dataclass(frozen=True)
class Range:
    """The range of a quantity if a claim holds, on the quantity's scale."""

    low: float
    high: float
    equivalent: bool = False
    """Whether two one-sided tests of equivalence decide, instead of the interval."""


@dataclass(frozen=True)
class Judgement:
    """A verdict and its reason, a clause without numbers."""

    verdict: Verdict
    reason: str


def judge(found: Result, expected: Range) -> Judgement:
    """The verdict on a measured quantity: every test allows for chance and the possible bias together."""
    own, known = found.known, found.known.with_bias(found.effect)
    story = own.story if isinstance(own, Place) else ""
    # A bound says nothing about the range on its open side.
    low = -np.inf if found.at_least else expected.low
    high = np.inf if found.at_most else expected.high
    if (holm(known.p_between(low, high)) <= SIGNIFICANCE).any():
        nowhere = f"{story}, and there is none in the expected range"
        return Judgement("refuted", nowhere if story else "it lies outside, beyond chance and possible bias")
    if found.missing:
        return Judgement("not measured", found.missing)
    if np.isnan(own.low).any():
        return Judgement("open", story or f"{ONE_LAUNCH}, so it is not replicated")
    if np.isnan(found.effect).any():
        return Judgement("open", NO_NULL)
    if (found.at_least and expected.high < np.inf) or (found.at_most and expected.low > -np.inf):
        bounds = {(True, False): "only a lower bound", (False, True): "only an upper bound", (True, True): "no bound"}
        known_bound = bounds[found.at_least, found.at_most]
        return Judgement("open", f"a curve still rises at the end of the axis, so {known_bound} is known")
    if _within(known, expected):
        how = "by two one-sided tests" if expected.equivalent else "with its whole interval"
        return Judgement("holds", f"it lies within the expected range, {how}, possible bias included")
    if _within(own, expected):
        return Judgement("open", "moved by the possible bias, it could lie outside the expected range")
    if (excess(own.mean, own.mean, expected) > 0).any():
        return Judgement("open", "it lies outside, but not beyond chance and possible bias")
    return Judgement("open", "its interval reaches beyond the expected range")


def _within(known: Known, expected: Range) -> bool:
    """Whether all numbers lie within the range, by their intervals or by tests of equivalence."""
    if expected.equivalent:
        return bool((known.p_outside(expected.low, expected.high) <= SIGNIFICANCE).all())
    return bool(((known.low >= expected.low) & (known.high <= expected.high)).all())


def excess(low: Floats, high: Floats, expected: Range) -> Floats:
    """The distance by which each interval exceeds the expected range; negative inside the range."""
    return np.maximum(expected.low - low, high - expected.high)


def decisive(found: Result, expected: Range) -> int:
    """The index of the claim's least favourable number."""
    known = found.known
    ends = excess(known.low, known.high, expected)
    return int(np.argmax(np.where(np.isnan(ends), excess(known.mean, known.mean, expected), ends)))
