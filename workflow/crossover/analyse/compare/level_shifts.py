"""At which runs of a history a curve came to another level."""

from __future__ import annotations

import numpy as np

from crossover.analyse.statistics.intervals import Floats
from crossover.analyse.statistics.segmentation import cuts

FEWEST = 6
"""Runs from which on a change can be told from noise: half of them before it, half after."""

SHORTEST = 2
"""Runs that a level must last, for one run that went wrong is no change."""

PENALTY = 11.0
"""What a change must save of the squared distances from the levels, in variances of a run.

By simulation: of histories of 6 to 20 runs in which nothing changes, this gives a change to less than 5 %, be the runs
normal or with the tails of Student's t on three degrees of freedom (tests/benchmarks/false_changes.py, which also tells
how large a change is found).
"""


def starts(values: Floats) -> list[int]:
    """The positions in `values`, one per run in order of time, at which another level begins.

    Least squares with a penalty for every change. The variance of a run comes from the steps between neighbouring runs,
    of which a change touches only one, and not from what the launches of a run tell: what differs from day to day is in
    the steps alone.
    """
    if len(values) < FEWEST:
        return []
    spread = np.sqrt((np.diff(values) ** 2).mean() / 2)
    if spread == 0:
        return []
    return cuts((values / spread)[np.newaxis], PENALTY, SHORTEST)[0]
