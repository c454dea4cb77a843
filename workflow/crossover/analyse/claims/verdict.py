"""The verdict on a claim and its reason, as docs/data.md defines them under "Claim verdicts".

Refutations are corrected for several numbers (Holm). That all their intervals lie within needs no correction.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from crossover.analyse.claims.result import ONE_LAUNCH, Place, Result
from crossover.analyse.estimators.sensitivity import NO_NULL
from crossover.analyse.statistics.intervals import Estimate, Floats, holm
from crossover.records.record import SIGNIFICANCE

Verdict = Literal["holds", "refuted", "inconclusive", "not measured"]


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
    """The verdict on a measured quantity."""
    known = found.known
    story = known.story if isinstance(known, Place) else ""
    # A bound says nothing about the range on its open side.
    low = -np.inf if found.at_least else expected.low
    high = np.inf if found.at_most else expected.high
    if (holm(known.p_between(low, high, found.effect)) <= SIGNIFICANCE).any():
        nowhere = f"{story}, and there is none in the expected range"
        return Judgement("refuted", nowhere if story else "it lies outside by more than the possible bias")
    if found.missing:
        return Judgement("not measured", found.missing)
    if np.isnan(known.low).any():
        return Judgement("inconclusive", story or f"{ONE_LAUNCH}, so it is not replicated")
    if np.isnan(found.effect).any():
        return Judgement("inconclusive", NO_NULL)
    if (found.at_least and expected.high < np.inf) or (found.at_most and expected.low > -np.inf):
        bounds = {(True, False): "only a lower bound", (False, True): "only an upper bound", (True, True): "no bound"}
        known_bound = bounds[found.at_least, found.at_most]
        return Judgement("inconclusive", f"a curve still rises at the end of the axis, so {known_bound} is known")
    inside = (known.low >= expected.low) & (known.high <= expected.high)
    if expected.equivalent:
        inside = known.p_outside(expected.low, expected.high) <= SIGNIFICANCE
    if inside.all():
        return _beyond_noise(found, expected)
    if (excess(known.mean, known.mean, expected) > 0).any():
        return Judgement("inconclusive", "it lies outside, but not by significantly more than the possible bias")
    return Judgement("inconclusive", "its interval reaches beyond the expected range")


def _beyond_noise(found: Result, expected: Range) -> Judgement:
    """The verdict on a quantity within the range: it holds unless the possible bias could explain it."""
    known, neutral = found.known, found.neutral
    if isinstance(known, Estimate):
        if neutral is None:
            if (found.effect > -excess(known.mean, known.mean, expected)).any():
                return Judgement("inconclusive", "shifted by the possible bias, it would lie outside")
        elif expected.low < neutral < expected.high:
            if (found.effect > min(expected.high - neutral, neutral - expected.low)).any():
                return Judgement("inconclusive", "the possible bias is larger than the claim allows")
        elif (known.p_between(neutral, neutral, found.effect) > SIGNIFICANCE).any():
            return Judgement("inconclusive", "its difference is not significantly larger than the possible bias")
    how = "by two one-sided tests" if expected.equivalent else "with its whole interval"
    return Judgement("holds", f"it lies within the expected range, {how}")


def excess(low: Floats, high: Floats, expected: Range) -> Floats:
    """The distance by which each interval exceeds the expected range; negative inside the range."""
    return np.maximum(expected.low - low, high - expected.high)


def decisive(found: Result, expected: Range) -> int:
    """The index of the claim's least favourable number."""
    known = found.known
    ends = excess(known.low, known.high, expected)
    return int(np.argmax(np.where(np.isnan(ends), excess(known.mean, known.mean, expected), ends)))
