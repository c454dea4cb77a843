"""The cost of a message and of a byte: segmented straight lines of time over size.

Hockney (Parallel Computing 20 (1994) 389) describes a transport by t(m) = alpha + m / beta: a start-up time and a rate.
If the library's protocol switches, for example from eager to rendezvous, another line begins, so each segment has its
own pair.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crossover.analyse.statistics.intervals import Floats, estimate, scatter

FEWEST = 3
"""The fewest cells of a segment; any two fit a line."""

MOST = 4
"""The most segments of a curve."""

EXACT = 1e-6
"""A line goes through a point if their relative distance is at most this, which is rounding."""


@dataclass(frozen=True)
class Interval:
    """A positive quantity: the geometric mean over the launches and its interval.

    All NaN if a launch has no value: a falling line has no rate, a line that starts below zero has no latency.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Segment:
    """One line of a curve."""

    first_bytes: float
    last_bytes: float
    """The measured points at its ends, on the mean curve."""
    latency_seconds: Interval
    """Alpha, the time of a message of no bytes on this line."""
    rate_bytes: Interval
    """Beta, in bytes per second."""
    break_bytes: Interval | None
    """Its start, between two measured points; None for the first segment."""


@dataclass(frozen=True)
class Fit:
    """The lines of one curve."""

    segments: list[Segment]
    """In rising order of size; empty if one launch, or too few cells, cannot separate bends from noise."""
    launches: int
    cells: int
    """The launches and cells behind the lines."""
    misfit: float
    """Root mean square of the relative distances of the mean curve from its lines."""


def hockney(size_bytes: Floats, d: Floats) -> Fit:
    """The lines through `d`, logarithms of seconds, shape (launches, cells), at `size_bytes`, rising.

    The lines minimise the sum of squares of relative distances, (t - alpha - m / beta) / t, over all ways to cut the
    axis into segments of at least FEWEST cells. The mean curve decides the number of segments and the segments (see
    `_count`). Then each launch gets its own lines within them. In addition, each launch is cut by itself into as many
    segments, which shows how far the breaks can be trusted. The intervals are Student's over the launches' logarithms,
    so neither cells nor rounds count as independent.
    """
    rows, cells = _complete(d)
    size_bytes, t = size_bytes[cells], np.exp(d[np.ix_(rows, cells)])
    launches, count = t.shape
    if count < FEWEST or launches < 2:
        return Fit([], launches, count, np.nan)
    lines = _Lines(size_bytes, np.vstack([np.exp(np.log(t).mean(axis=0)), t]))
    segments = _count(lines.squares(min(MOST, count // FEWEST))[:, 0], np.log(t))
    mean, *own = lines.starts(segments)
    every = np.arange(1, launches + 1)
    found = []
    for number, (first, last) in enumerate(zip(mean, np.append(mean[1:], count) - 1, strict=True)):
        alpha, per_byte = lines.at(every, first, last)
        begins = _between(size_bytes, int(first), np.array([starts[number] for starts in own])) if number else None
        with np.errstate(divide="ignore"):
            rate = _over_launches(1 / per_byte)
        found.append(Segment(float(size_bytes[first]), float(size_bytes[last]), _over_launches(alpha), rate, begins))
    misfit = float(np.sqrt(lines.squares(segments)[-1, 0] / count))
    return Fit(found, launches, count, misfit)


def _between(size_bytes: Floats, first: int, own: NDArray[np.int64]) -> Interval:
    """The start of a segment with first cell `first` on the mean curve, and `own` in the launches' own cuts.

    Nothing is known between two measured points, so the interval contains both; it does not leave the axis.
    """
    found = _over_launches(np.sqrt(size_bytes[own - 1] * size_bytes[own]))
    low = max(min(found.low, size_bytes[first - 1]), size_bytes[0])
    high = min(max(found.high, size_bytes[first]), size_bytes[-1])
    return Interval(found.value, float(low), float(high))


def _complete(d: Floats) -> tuple[list[int], list[int]]:
    """The launches and cells of the largest part of `d` without gaps whose cells are those of some launch."""
    measured = ~np.isnan(d)
    best: tuple[list[int], list[int]] = ([], [])
    for own in measured:
        rows = np.flatnonzero(measured[:, own].all(axis=1)) if own.any() else np.array([], int)
        if len(rows) * own.sum() > len(best[0]) * len(best[1]):
            best = rows.tolist(), np.flatnonzero(own).tolist()
    return best


def _count(squares: Floats, d: Floats) -> int:
    """The number of segments of the mean curve, from the residual `squares` of one, two, ... segments, and all
    launches' `d`.

    Bayes' information criterion (Schwarz, Annals of Statistics 6 (1978) 461), with alpha, beta and a break for each
    further segment. The variance is never below that of the mean over the launches: with few cells, many lines pass
    through all of them, and lines closer to the points than the launches are to each other overfit.
    """
    cells = d.shape[1]
    parameters = 3 * np.arange(1, len(squares) + 1) - 1
    variance = np.maximum(squares / cells, max(scatter(d), EXACT**2))
    return 1 + int(np.argmin(cells * np.log(variance) + parameters * np.log(cells)))


def _over_launches(values: Floats) -> Interval:
    if not np.all(np.isfinite(values) & (values > 0)):
        return Interval(np.nan, np.nan, np.nan)
    found = estimate(np.log(values)[:, np.newaxis])
    return Interval(*(float(np.exp(each[0])) for each in (found.mean, found.low, found.high)))


class _Lines:
    """Every line through neighbouring cells of several curves, and the best sequences of such lines."""

    def __init__(self, size_bytes: Floats, t: Floats):
        """`t` has shape (curves, cells), in seconds."""
        curves, cells = t.shape
        self._alpha, self._slope, self._squares = np.full((3, curves, cells, cells), np.nan)
        for first in range(cells):
            # Sums from `first` to each last cell, with weights 1 / t^2. Differences of sums from the beginning of the
            # axis would be inexact, because the weights of small sizes are so much larger.
            w = 1 / t[:, first:]
            mw = size_bytes[first:] / t[:, first:]
            one, m, mm, y, my = (np.cumsum(part, axis=1) for part in (w * w, mw * w, mw * mw, w, mw))
            determinant = one * mm - m * m
            with np.errstate(divide="ignore", invalid="ignore"):
                alpha, slope = (mm * y - m * my) / determinant, (one * my - m * y) / determinant
                counts = np.arange(1, cells - first + 1)
                left = np.maximum(counts - alpha * y - slope * my, 0)
            self._alpha[:, first, first:], self._slope[:, first, first:] = alpha, slope
            self._squares[:, first, first:] = np.where(counts < FEWEST, np.inf, left)
        self._best: list[Floats] = []
        """For each number of segments, the least squares up to each cell, shape (curves, cells)."""
        self._from: list[NDArray[np.int64]] = []
        """The first cell of the last of these segments, likewise."""

    def squares(self, most: int) -> Floats:
        """The residual squares of one, two, ... `most` segments, shape (most, curves)."""
        while len(self._best) < most:
            self._add()
        return np.stack([best[:, -1] for best in self._best[:most]])

    def starts(self, segments: int) -> NDArray[np.int64]:
        """The first cell of each segment, shape (curves, segments)."""
        self.squares(segments)
        every = np.arange(self._alpha.shape[0])
        last = np.full(len(every), self._alpha.shape[2] - 1)
        found = []
        for number in range(segments - 1, -1, -1):
            first = self._from[number][every, last]
            found.append(first)
            last = first - 1
        return np.stack(found[::-1], axis=1)

    def at(self, curves: NDArray[np.int64], first: int, last: int) -> tuple[Floats, Floats]:
        """Alpha and the seconds per byte of the line from the cell `first` to `last`, for each of `curves`."""
        return self._alpha[curves, first, last], self._slope[curves, first, last]

    def _add(self) -> None:
        """Add one segment: for each last cell, the best first cell of the last segment."""
        if not self._best:
            self._best.append(self._squares[:, 0])
            self._from.append(np.zeros(self._squares.shape[::2], int))
            return
        before = np.full(self._squares.shape, np.inf)
        before[:, 1:] = self._best[-1][:, :-1, np.newaxis]
        total = before + np.where(np.isnan(self._squares), np.inf, self._squares)
        self._from.append(total.argmin(axis=1))
        self._best.append(total.min(axis=1))
