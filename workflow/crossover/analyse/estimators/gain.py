"""The gain of an alternative over the default, and the test that it must pass to be recommended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from crossover.analyse.statistics.intervals import Floats, estimate, holm
from crossover.records.record import CONFIDENCE, SIGNIFICANCE


@dataclass(frozen=True)
class Gain:
    """Logarithm of the factor by which an alternative is better; NaN if it was not measured or not replicated."""

    launches: int
    mean: float
    low: float
    high: float
    """Ends of the interval, simultaneous over all alternatives that were tried."""
    p: float
    """p-value of a gain within the smallest detectable effect, corrected for the alternatives that were tried."""
    tried: int

    @property
    def shown(self) -> bool:
        """Whether it is a gain, significantly beyond the smallest detectable effect."""
        return self.mean > 0 and self.p <= SIGNIFICANCE


def per_launch(d: Floats) -> Floats:
    """One number per launch from `d`, shape (launches, cells): the mean over all cells that any launch measured.

    NaN for a launch that lacks one of them, because the mean of other cells is another quantity.
    """
    measured = ~np.isnan(d).all(axis=0)
    return np.asarray(d[:, measured].mean(axis=1)) if measured.any() else np.full(len(d), np.nan)


def gains(numbers: Floats, smallest_effect: float) -> list[Gain]:
    """The gain of each alternative from `numbers`, shape (launches, alternatives), NaN where a launch has none.

    Each is a t interval over launches and a minimum-effect test. The best of several alternatives looks better than it
    is. So the p-values are Holm's, and the intervals Bonferroni's: with k alternatives, each has a confidence of
    1 - 5 % / k, so that all hold at once, including the selected one.
    """
    # Alternatives are not neighbours on an axis, so nothing is pooled.
    every = [estimate(column[:, np.newaxis]) for column in numbers.T]
    corrected = holm(np.array([float(each.p_within(smallest_effect)[0]) for each in every]))
    share = (1 - CONFIDENCE) / max(len(every), 1)
    found = []
    for column, each, p in zip(numbers.T, every, corrected, strict=True):
        mean, margin = float(each.mean[0]), float((stdtrit(each.df, 1 - share / 2) * each.error)[0])
        launches = int((~np.isnan(column)).sum())
        found.append(Gain(launches, mean, mean - margin, mean + margin, float(p), len(every)))
    return found
