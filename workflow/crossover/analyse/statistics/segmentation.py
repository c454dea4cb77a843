"""Exact segmentation of series by level. The libraries for this have no wheels for some Python versions."""

import numpy as np
from numpy.typing import NDArray

from crossover.analyse.statistics.intervals import Floats


def cuts(values: Floats, penalty: float, shortest: int) -> list[list[int]]:
    """The first positions of all segments but the first, for each of several series.

    `values` has shape (series, length). Of all segmentations into parts of at least `shortest`, the result has the
    least sum of squares within segments plus `penalty` for each cut (Jackson et al., IEEE Signal Processing Letters 12
    (2005) 105).
    """
    series, length = values.shape
    sums = np.hstack([np.zeros((series, 1)), np.cumsum(values, axis=1)])
    best = np.full((series, length + 1), np.inf)
    best[:, 0] = 0
    start = np.zeros((series, length + 1), int)
    for end in range(shortest, length + 1):
        lengths = end - np.arange(end - shortest + 1)
        left = best[:, : len(lengths)] - (sums[:, [end]] - sums[:, : len(lengths)]) ** 2 / lengths
        start[:, end] = left.argmin(axis=1)
        best[:, end] = left[np.arange(series), start[:, end]] + penalty
    return [_followed(row) for row in start]


def _followed(start: NDArray[np.int64]) -> list[int]:
    found: list[int] = []
    end = len(start) - 1
    while (end := int(start[end])) > 0:
        found.append(end)
    return found[::-1]
