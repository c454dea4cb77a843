"""The scale on which a metric's values are averaged and get their intervals.

Most metrics are just positive, and their scale is the logarithm. A share, such as an efficiency, is also at most 1, but
an interval of its logarithm could end above 1. Its scale is the logit, log(v / (1 - v)), whose intervals end inside (0,
1). For small shares, the logit is the logarithm. Near 1, it is minus the logarithm of the loss 1 - v, so neighbouring
cells whose losses differ by a factor of ten still have similar scatter, as pooling their variance requires.

A metric in `times` is a factor over a lower bound, and so the inverse of a share. Its scale is the logarithm of its
excess over 1.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from crossover.analyse.statistics.intervals import Floats
from crossover.records.record import FACTOR, SHARE

MOST = 0.999
"""The largest share; closer to 1, the logit consists of rounding errors and the clock's noise."""


@dataclass(frozen=True)
class Scale:
    """A rising function of a metric's values, and its inverse; both take and return arrays of any shape."""

    of_log: Callable[[Floats], Floats]
    """The number on this scale, from the logarithm of a value."""
    value: Callable[[Floats], Floats]
    """The value, from the number on this scale."""

    def lowered(self, number: Floats, effect: Floats) -> Floats:
        """The distance on this scale from `number` down to its value divided by exp(`effect`)."""
        return np.asarray(number - self.of_log(np.log(self.value(number)) - effect))


def logit(shares: Floats) -> Floats:
    """The logits of shares; a share above MOST counts as MOST."""
    clipped = np.minimum(shares, MOST)
    return np.asarray(np.log(clipped / (1 - clipped)))


POSITIVE = Scale(of_log=np.asarray, value=np.exp)
BOUNDED = Scale(of_log=lambda logs: logit(np.exp(logs)), value=expit)
ABOVE_ONE = Scale(of_log=lambda logs: -logit(np.exp(-logs)), value=lambda numbers: 1 + np.exp(numbers))


def of_unit(unit: str) -> Scale:
    """The scale of a metric that has this unit."""
    return {SHARE: BOUNDED, FACTOR: ABOVE_ONE}.get(unit, POSITIVE)
