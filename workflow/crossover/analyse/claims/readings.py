"""Reads a claim's numbers from a curve: at a point, at each point, on average, as a slope, at the peak.

A curve is `x`, rising, shape (cells,), and `d`, logarithms of shape (launches, cells), NaN if a launch has none. A
number that is not a cell of the curve is computed once per launch, and has a plain t interval over launches.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from crossover.analyse.claims.candidates import Candidates, Quantity
from crossover.analyse.curves.curve import Curve
from crossover.analyse.statistics.intervals import Estimate, Floats, between, estimate

SAME = 0.01
"""Points of the axis whose logarithms are this close count as equal, such as 464 and 464.16 bytes."""


@dataclass(frozen=True)
class Reading:
    """One or more numbers read from a curve."""

    estimate: Estimate
    x: tuple[float | None, ...] = (None,)
    """The point of the axis of each number."""
    lever: float = 1.0
    """The largest change of a number if each cell of the curve changes by at most one."""
    slope: bool = False
    """Whether the numbers are exponents of the axis, not logarithms."""
    between: tuple[float, float] | None = None
    """The measured points between which a number is interpolated."""
    at_least: bool = False
    """Whether the number is only a lower bound, because a peak lies at the end of the axis."""
    at_most: bool = False
    """Whether it is only an upper bound, because a peak in its denominator does."""


def read(candidates: Candidates, quantity: Quantity, curve: Curve, x: Floats, d: Floats) -> Reading:
    """The numbers for a quantity's `at`, `each`, `mean`, `slope` or `peak`, from `d` over `x`, which belong to `curve`.

    Raises NotMeasuredError if the curve does not reach far enough. Numbers are NaN if no launch has all the cells that
    they need.
    """
    measured = ~np.isnan(d).all(axis=0)
    x, d = x[measured], d[:, measured]
    if "at" in quantity:
        return at(candidates, quantity["at"], curve, x, d)
    (name,) = (name for name in ("each", "mean", "slope", "peak") if name in quantity)
    x, d = part(candidates, quantity[name], curve, x, d)
    match name:
        case "each":
            return Reading(estimate(d), tuple(map(float, x)))
        case "mean":
            return Reading(_per_launch(means(x, d)))
        case "slope":
            return _slope(x, d)
        case _:
            return Reading(_per_launch(peaks(d)), at_least=rises(quantity[name], d, candidates.effect(curve)))


def part(
    candidates: Candidates, wanted: Mapping[str, Any], curve: Curve, x: Floats, d: Floats
) -> tuple[Floats, Floats]:
    """The part of `d` over `x` between `wanted`'s ends, or at its `points`; each of them is optional.

    Raises NotMeasuredError if the curve does not reach an end, unless `candidates` are partial, or has no point between
    them.
    """
    ends = [wanted[name] for name in ("from", "to") if name in wanted]
    for end in ends or wanted.get("points", []):
        if not candidates.partial and not (x.size and np.log(x[0]) - SAME <= np.log(end) <= np.log(x[-1]) + SAME):
            raise candidates.beyond(curve, end)
    low, high = np.log(wanted.get("from", x.min(initial=np.inf))), np.log(wanted.get("to", x.max(initial=0.0) or 1.0))
    inside = (np.log(x) >= low - SAME) & (np.log(x) <= high + SAME)
    if "points" in wanted:
        inside &= (np.abs(np.log(x)[:, np.newaxis] - np.log(wanted["points"])) <= SAME).any(axis=1)
    if wanted and not inside.any():
        raise candidates.beyond(curve, next(iter(ends or wanted["points"])))
    return x[inside], d[:, inside]


def at(candidates: Candidates, place: float, curve: Curve, x: Floats, d: Floats) -> Reading:
    """At a cell, or interpolated between two on logarithmic axes; never beyond the ends."""
    cells, u = estimate(d), np.log(x)
    away = np.abs(u - np.log(place))
    if away.min(initial=np.inf) <= SAME:
        cell = int(away.argmin())
        return Reading(Estimate(cells.mean[[cell]], cells.error[[cell]], cells.df[[cell]]), (float(x[cell]),))
    if not x.size or not x[0] < place < x[-1]:
        raise candidates.beyond(curve, place)
    left = int(np.searchsorted(x, place)) - 1
    far = (np.log(place) - u[left]) / (u[left + 1] - u[left])
    ends = (float(x[left]), float(x[left + 1]))
    return Reading(between(d, cells.mean, left, np.array([far])), (place,), between=ends)


def means(x: Floats, d: Floats) -> Floats:
    """The average of each launch over the logarithm of the axis, so that points close together do not count more.

    NaN for a launch that lacks a cell.
    """
    u = np.log(x)
    if len(u) < 2:
        return d.mean(axis=1) if len(u) else np.full(len(d), np.nan)
    return np.asarray(np.trapezoid(d, u, axis=1) / (u[-1] - u[0]))


def _slope(x: Floats, d: Floats) -> Reading:
    if len(x) < 2:
        return Reading(_per_launch(np.full(len(d), np.nan)), slope=True)
    off = np.log(x) - np.log(x).mean()
    weights = off / (off**2).sum()
    return Reading(_per_launch(d @ weights), lever=float(np.abs(weights).sum()), slope=True)


def peak(d: Floats) -> int:
    """The cell with the largest mean over launches; `d` has shape (launches, cells), and a value in each cell."""
    return int(np.argmax(np.nanmean(d, axis=0)))


def peaks(d: Floats) -> Floats:
    """Each launch's value at the peak of the mean curve; NaN for a launch without one.

    The largest value of each launch would be too large on average, because it is also the luckiest one.
    """
    d = d[:, ~np.isnan(d).all(axis=0)]
    return d[:, peak(d)] if d.size else np.full(len(d), np.nan)


def rises(wanted: Mapping[str, float], d: Floats, effect: float) -> bool:
    """Whether the mean curve still rises at the end of the axis, by more than `effect` above all other points, unless
    the claim itself ends `wanted` there.

    A peak at the beginning is one: the smallest messages have the highest rate, however small.
    """
    mean = np.nanmean(d[:, ~np.isnan(d).all(axis=0)], axis=0)
    return "to" not in wanted and len(mean) > 1 and not mean[-1] - mean[:-1].max() <= np.nan_to_num(effect)


def _per_launch(numbers: Floats) -> Estimate:
    return estimate(numbers[:, np.newaxis])
