"""The cost of a message and of a byte: segmented straight lines of time over size.

Hockney (Parallel Computing 20 (1994) 389) describes a transport by t(m) = alpha + m / beta: a start-up time and a rate.
If the library's protocol switches, for example from eager to rendezvous, another line begins, so each segment has its
own pair.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from crossover.analyse.curves.curve import Curve, Row
from crossover.analyse.statistics.intervals import Floats, complete_around, estimate, scatter

Ints = NDArray[np.int64]

BYTES = {"bytes": 1, "elements": 8}
"""Units of an axis of message sizes, in bytes; an element is a float64, or as many bytes."""

SECONDS = {"s": 1, "messages/s": -1, "tasks/s": -1}
"""Units from which the time of a message follows, with the power that converts them to seconds. Bytes per second are
left out, because they repeat the same information."""

FEWEST = 3
"""The fewest cells of a segment; any two fit a line."""

MOST = 4
"""The most segments of a curve."""

EXACT = 1e-6
"""A line goes through a point if their relative distance is at most this, which is rounding."""


def fits(curves: Sequence[Curve]) -> Iterator[Row]:
    """The rows of record.FITS, from the first sweep of each curve of times over sizes, null arms and ceilings too."""
    for curve in (each.swept for each in curves):
        size, per = BYTES.get(curve.facts["axis_unit"]), SECONDS.get(curve.facts["unit"])
        if size and per:
            yield from (curve.facts | row for row in hockney(size * curve.x, per * curve.values))


def hockney(size_bytes: Floats, d: Floats) -> list[Row]:
    """The lines through `d`, logarithms of seconds, shape (launches, cells), at `size_bytes`, rising.

    One row per line, in the columns of record.FITS; a single row without a line if one launch, or too few cells, cannot
    separate bends from noise.

    The lines minimise the sum of squares of relative distances, (t - alpha - m / beta) / t, over all ways to cut the
    axis into segments of at least FEWEST cells; docs/data.md explains the method under "Line fits".
    """
    # The largest part without gaps.
    parts = [complete_around(d, cell) for cell in range(len(size_bytes))] or [(d[:0], np.array([], int))]
    complete, cells = parts[int(np.argmax([part.size for part, _ in parts]))]
    size_bytes, t = size_bytes[cells], np.exp(complete)
    launches, count = t.shape
    if count < FEWEST or launches < 2:
        return [{"launches": launches, "cells": count, "segments": 0}]
    alpha, per_byte, squares = _lines(size_bytes, np.vstack([np.exp(np.log(t).mean(axis=0)), t]))
    least, firsts = _sequences(squares, min(MOST, count // FEWEST))
    segments = _count(np.array([each[0, -1] for each in least]), np.log(t))
    mean, *own = _starts(firsts[:segments])
    misfit = float(np.sqrt(least[segments - 1][0, -1] / count))
    shared = {"launches": launches, "cells": count, "segments": segments, "misfit": misfit}
    found = []
    for number, (first, after) in enumerate(zip(mean, [*mean[1:], count], strict=True)):
        with np.errstate(divide="ignore"):
            rate = 1 / per_byte[1:, first, after - 1]
        begins = np.array([starts[number] for starts in own])
        found.append(
            shared
            | {"segment": number + 1, "first_bytes": size_bytes[first], "last_bytes": size_bytes[after - 1]}
            | _interval("latency_seconds", _over_launches(alpha[1:, first, after - 1]))
            | _interval("rate_bytes", _over_launches(rate))
            | (_interval("break_bytes", _between(size_bytes, first, begins)) if number else {})
        )
    return found


def _between(size_bytes: Floats, first: int, own: Ints) -> tuple[float, float, float]:
    """The start of a segment with first cell `first` on the mean curve, and `own` in the launches' own cuts.

    Nothing is known between two measured points, so the interval contains both; it does not leave the axis.
    """
    value, low, high = _over_launches(np.sqrt(size_bytes[own - 1] * size_bytes[own]))
    low = max(min(low, size_bytes[first - 1]), size_bytes[0])
    return value, low, min(max(high, size_bytes[first]), size_bytes[-1])


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


def _over_launches(values: Floats) -> tuple[float, float, float]:
    """The geometric mean of a positive quantity over the launches, and its interval.

    All NaN if a launch has no value: a falling line has no rate, a line that starts below zero has no latency.
    """
    if not np.all(np.isfinite(values) & (values > 0)):
        return np.nan, np.nan, np.nan
    found = estimate(np.log(values)[:, np.newaxis])
    return np.exp(found.mean[0]), np.exp(found.low[0]), np.exp(found.high[0])


def _interval(name: str, ends: tuple[float, float, float]) -> Row:
    return dict(zip((name, f"{name}_low", f"{name}_high"), ends, strict=True))


def _lines(size_bytes: Floats, t: Floats) -> tuple[Floats, Floats, Floats]:
    """Alpha, the seconds per byte, and the residual squares of every line through neighbouring cells of several curves.

    `t` has shape (curves, cells), in seconds; the results have shape (curves, first cell, last cell). The squares are
    infinite where a line would have too few cells.
    """
    curves, cells = t.shape
    alphas, slopes = np.full((2, curves, cells, cells), np.nan)
    squares = np.full((curves, cells, cells), np.inf)
    for first in range(cells):
        # Sums from `first` to each last cell, with weights 1 / t^2. Differences of sums from the beginning of the axis
        # would be inexact, because the weights of small sizes are so much larger.
        w = 1 / t[:, first:]
        mw = size_bytes[first:] / t[:, first:]
        one, m, mm, y, my = (np.cumsum(part, axis=1) for part in (w * w, mw * w, mw * mw, w, mw))
        determinant = one * mm - m * m
        with np.errstate(divide="ignore", invalid="ignore"):
            alpha, slope = (mm * y - m * my) / determinant, (one * my - m * y) / determinant
            counts = np.arange(1, cells - first + 1)
            left = np.maximum(counts - alpha * y - slope * my, 0)
        alphas[:, first, first:], slopes[:, first, first:] = alpha, slope
        squares[:, first, first:] = np.where(counts < FEWEST, np.inf, left)
    return alphas, slopes, squares


def _sequences(squares: Floats, most: int) -> tuple[list[Floats], list[Ints]]:
    """The best sequences of one, two, ... `most` lines up to each cell, from the `squares` of every line: the sums of
    their squares, and the first cells of their last lines, each of shape (curves, cells)."""
    least, firsts = [squares[:, 0]], [np.zeros(squares.shape[::2], int)]
    while len(least) < most:
        before = np.full(squares.shape, np.inf)
        before[:, 1:] = least[-1][:, :-1, np.newaxis]
        total = before + squares
        least.append(total.min(axis=1))
        firsts.append(total.argmin(axis=1))
    return least, firsts


def _starts(firsts: Sequence[Ints]) -> Ints:
    """The first cell of each line of the sequence that ends with the last cell, shape (curves, lines)."""
    curves, cells = firsts[0].shape
    found = [np.full(curves, cells)]
    for of_last in reversed(firsts):
        found.append(of_last[np.arange(curves), found[-1] - 1])
    return np.stack(found[:0:-1], axis=1)
