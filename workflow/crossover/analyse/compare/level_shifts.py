"""Detects the runs of a history at which a curve shifted to another level."""

from __future__ import annotations

import numpy as np

from crossover.analyse.statistics.intervals import Floats
from crossover.analyse.statistics.segmentation import cuts

FEWEST = 6
"""The fewest runs in which a shift can be distinguished from noise: half of them before it, half after."""

SHORTEST = 2
"""The fewest runs of a level, because a single odd run is no shift."""

PENALTY = 11.0
"""The reduction of squared distances from the levels that a shift needs, in variances of a run.

By simulation: with this penalty, less than 5 % of constant histories of 6 to 20 runs show a shift, whether the runs are
normal or have the tails of Student's t with three degrees of freedom (tests/benchmarks/false_changes.py, which also
shows how large a shift is detected).
"""


def starts(values: Floats) -> list[int]:
    """The positions in `values`, one per run in order of time, at which another level begins.

    Least squares with a penalty for every shift. The variance of a run is estimated from the steps between neighbouring
    runs, of which a shift affects only one. It is not estimated from launches, because only the steps contain the
    differences from day to day.
    """
    if len(values) < FEWEST:
        return []
    spread = np.sqrt((np.diff(values) ** 2).mean() / 2)
    if spread == 0:
        return []
    return cuts((values / spread)[np.newaxis], PENALTY, SHORTEST)[0]
