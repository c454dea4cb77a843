"""What claims read from a curve: numbers with t intervals, or points of the axis with their possible ranges.

A curve is `x`, rising, shape (cells,), and `d`, logarithms of shape (launches, cells), NaN if a launch has none. A
number that is not a cell of the curve is computed once per launch, and has a plain t interval over launches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crossover.analyse.claims.candidates import Candidates
from crossover.analyse.estimates.crossover import Stretch, crossing
from crossover.analyse.estimates.curve import Curve
from crossover.analyse.estimates.intervals import POSITIVE, Estimate, Floats, Scale, between, estimate, sides
from crossover.config.claim_list import Part, Quantity

ONE_LAUNCH = "only one launch measured it"

STORIES = {
    "none": "no crossover was shown on this axis",
    "always": "the arms do not cross on this axis",
    "several": "the arms cross several times",
    "alike": "the arms are alike on this axis",
    "open": "the arms differ nowhere beyond chance and possible bias",
}
"""Reasons for the verdicts on a crossover that give no point."""

SAME = 0.01
"""Points of the axis whose logarithms are this close count as equal, such as 464 and 464.16 bytes."""

ANYWHERE = (-np.inf, np.inf)
NOWHERE = np.array([np.nan])
FAR = np.log(10)
"""Measured points farther apart than a decade say nothing about the points between them."""


@dataclass(frozen=True)
class Place:
    """A point of the axis, in logarithms, from the inversion of a test; its numbers have shape (1,), NaN if unknown."""

    mean: Floats
    """The point."""
    low: Floats
    high: Floats
    """Ends of the interval, which allows for the possible bias."""
    possible: Sequence[tuple[float, float]]
    """Its possible ranges, allowing for it too."""
    story: str = ""
    """The reason if the point is unknown."""

    def with_bias(self, bias: Floats) -> Place:
        """The point itself: its interval was made with the bias of the curve below it."""
        return self

    def p_between(self, low: float, high: float) -> Floats:
        """0 if the point cannot be between the two, otherwise 1."""
        return np.array([float(any(first <= high and last >= low for first, last in self.possible))])

    def p_outside(self, low: float, high: float) -> Floats:
        """0 if the interval is between the two, otherwise 1."""
        return np.where((low <= self.low) & (self.high <= high), 0.0, 1.0)


Known = Estimate | Place
"""The estimates behind a verdict: `mean`, `low`, `high` and p-values, arrays with one entry for each number."""


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


@dataclass(frozen=True)
class Result:
    """An estimated quantity. Its numbers are in the claim's unit, or on `scale`."""

    known: Known
    curves: Sequence[Curve]
    """The curves behind it."""
    unit: str
    """The unit of its curve; empty if that does not apply."""
    log: bool
    """Whether its numbers are on `scale`."""
    effect: Floats
    """The possible bias of each number, on the same scale; NaN if unknown."""
    x: Sequence[float | None] = (None,)
    """The point of the axis of each number."""
    arms: Sequence[str] = ("",)
    """The arm that each number compares with, if there are several."""
    at_least: bool = False
    """Whether the number is only a lower bound, because the axis ends too early."""
    at_most: bool = False
    """Whether the number is only an upper bound, likewise."""
    missing: str = ""
    """The reason if a part of the claim cannot be judged."""
    between: tuple[float, float] | None = None
    """The measured points between which a number is interpolated."""
    scale: Scale = POSITIVE


def read(candidates: Candidates, quantity: Quantity, curve: Curve, x: Floats, d: Floats) -> Reading:
    """The numbers for a quantity's `at`, `each`, `mean`, `slope` or `peak`, from `d` over `x`, which belong to `curve`.

    Raises NotMeasuredError if the curve does not reach far enough. Numbers are NaN if no launch has all the cells that
    they need.
    """
    measured = ~np.isnan(d).all(axis=0)
    x, d = x[measured], d[:, measured]
    if quantity.at is not None:
        return at(candidates, quantity.at, curve, x, d)
    wanted = quantity.each or quantity.mean or quantity.slope or quantity.peak
    assert wanted, "the check of the claims requires one"
    x, d = part(candidates, wanted, curve, x, d)
    if quantity.each:
        return Reading(estimate(d), tuple(map(float, x)))
    if quantity.mean:
        return Reading(_per_launch(means(x, d)))
    if quantity.slope:
        return _slope(x, d)
    return Reading(_per_launch(peaks(d)), at_least=rises(wanted, d, candidates.effect(curve)))


def part(candidates: Candidates, wanted: Part, curve: Curve, x: Floats, d: Floats) -> tuple[Floats, Floats]:
    """The part of `d` over `x` between `wanted`'s ends, or at its `points`; each of them is optional.

    Raises NotMeasuredError if the curve does not reach an end, unless `candidates` are partial, or has no point between
    them.
    """
    ends = [end for end in (wanted.start, wanted.end) if end is not None] or wanted.points or []
    for end in ends:
        if not candidates.partial and not (x.size and np.log(x[0]) - SAME <= np.log(end) <= np.log(x[-1]) + SAME):
            raise candidates.beyond(curve, end)
    low = np.log(x.min(initial=np.inf) if wanted.start is None else wanted.start)
    high = np.log((x.max(initial=0.0) or 1.0) if wanted.end is None else wanted.end)
    inside = (np.log(x) >= low - SAME) & (np.log(x) <= high + SAME)
    if wanted.points:
        inside &= (np.abs(np.log(x)[:, np.newaxis] - np.log(wanted.points)) <= SAME).any(axis=1)
    if ends and not inside.any():
        raise candidates.beyond(curve, ends[0])
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


def peak(d: Floats) -> int:
    """The cell with the largest mean over launches; `d` has shape (launches, cells), and a value in each cell."""
    return int(np.argmax(np.nanmean(d, axis=0)))


def peaks(d: Floats) -> Floats:
    """Each launch's value at the peak of the mean curve; NaN for a launch without one.

    The largest value of each launch would be too large on average, because it is also the luckiest one.
    """
    d = d[:, ~np.isnan(d).all(axis=0)]
    return d[:, peak(d)] if d.size else np.full(len(d), np.nan)


def rises(wanted: Part, d: Floats, effect: float) -> bool:
    """Whether the mean curve still rises at the end of the axis, by more than `effect` above all other points, unless
    the claim itself ends `wanted` there.

    A peak at the beginning is one: the smallest messages have the highest rate, however small.
    """
    mean = np.nanmean(d[:, ~np.isnan(d).all(axis=0)], axis=0)
    return wanted.end is None and len(mean) > 1 and not mean[-1] - mean[:-1].max() <= np.nan_to_num(effect)


def passes(x: Floats, d: Floats, effect: float) -> Place:
    """The crossing of zero of log ratios `d`, shape (launches, cells), in logarithms of `x`.

    Its interval and its possible ranges allow for a bias of `effect`. A single launch gives the point of its only
    change of sign, and no interval.
    """
    if len(d) < 2:
        return Place(_sign_change(x, d), NOWHERE, NOWHERE, [ANYWHERE], ONE_LAUNCH)
    found = crossing(x, d, effect)
    possible = _possible(x, d, effect)
    if found.verdict != "one":
        return Place(NOWHERE, NOWHERE, NOWHERE, possible, STORIES[found.verdict])
    centre, low, high = np.log(np.array([[found.x], [found.low], [found.high]], float))
    return Place(centre, low, high, possible)


def apart(first: Place, second: Place) -> Place:
    """The distance of two points. Its interval is that of the two farthest pairs of ends."""
    possible = [(a - d, b - c) for a, b in first.possible for c, d in second.possible]
    story = first.story or second.story
    return Place(first.mean - second.mean, first.low - second.high, first.high - second.low, possible, story)


def saturates(x: Floats, d: Floats, share: float, effect: float) -> tuple[Place, bool]:
    """The first point at which a curve reaches a share of its peak, in logarithms of `x`; interpolated in each launch.

    Also whether the peak is at the end of the axis, so that the point is a lower bound. The possible range extends to
    the measured points around it, for shares that are off by up to `effect`. So does the interval, if these points are
    more than FAR apart: between them the curve is unknown.
    """
    whole = ~np.isnan(d).any(axis=1)
    if not whole.any():
        return Place(NOWHERE, NOWHERE, NOWHERE, [ANYWHERE], "no launch measured all of the curve"), False
    d, u = d[whole], np.log(x)
    largest = peak(d)
    above = d - d[:, [largest]] - np.log(share)
    found = estimate(np.array([_first(u, row) for row in above])[:, np.newaxis])
    at_end = largest == len(x) - 1
    story = "" if len(d) > 1 else ONE_LAUNCH
    if np.isnan(effect) or len(d) < 2:
        return Place(found.mean, found.low, found.high, [ANYWHERE], story), at_end
    # The peak itself always reaches its share.
    cells = [[int(np.argmax(row >= min(shift, row[largest]))) for row in above] for shift in (-effect, effect)]
    first, last = min(cells[0]) - 1, max(cells[1])
    possible = float(u[first]) if first >= 0 else -np.inf, np.inf if at_end else float(u[last])
    ends = found.low, found.high
    if u[last] - u[max(first, 0)] > FAR + 1e-9:
        ends = u[[max(first, 0)]], u[[last]]
    return Place(found.mean, *ends, [possible], story), at_end


def _slope(x: Floats, d: Floats) -> Reading:
    if len(x) < 2:
        return Reading(_per_launch(np.full(len(d), np.nan)), slope=True)
    off = np.log(x) - np.log(x).mean()
    weights = off / (off**2).sum()
    return Reading(_per_launch(d @ weights), lever=float(np.abs(weights).sum()), slope=True)


def _per_launch(numbers: Floats) -> Estimate:
    return estimate(numbers[:, np.newaxis])


def _possible(x: Floats, d: Floats, effect: float) -> list[tuple[float, float]]:
    """Parts of the axis, in logarithms, that can contain a single crossing.

    A cell is settled if it differs from zero beyond chance and a bias of `effect`. The crossing is anywhere between two
    settled cells of opposite sign.
    """
    side, u = sides(estimate(d).with_bias(effect)), np.log(x)
    settled = np.flatnonzero(np.nan_to_num(side))
    if not settled.size:
        return [ANYWHERE]
    changes = np.flatnonzero(np.diff(side[settled]))
    if not changes.size:
        return [(-np.inf, float(u[settled[0]])), (float(u[settled[-1]]), np.inf)]
    if changes.size > 1:
        return [ANYWHERE]
    first, last = (float(u[settled[changes[0] + step]]) for step in (0, 1))
    return [(first, last)]


def _sign_change(x: Floats, d: Floats) -> Floats:
    """The only change of sign of one launch, as a logarithm of `x`; NaN if it changes sign never or repeatedly."""
    kept = ~np.isnan(d[0]) & (d[0] != 0)
    u, d = np.log(x[kept]), d[:, kept]
    zeros = Stretch(u, d, d[0], 0, len(u) - 1).zeros
    return np.interp(zeros, np.arange(len(u)), u) if zeros.size == 1 else NOWHERE


def _first(u: Floats, above: Floats) -> float:
    """The first point at which a curve reaches zero, interpolated."""
    cell = int(np.argmax(above >= 0))
    around = slice(max(cell - 1, 0), cell + 1)
    return float(np.interp(0, above[around], u[around]))
