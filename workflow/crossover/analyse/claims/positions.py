"""Quantities that are points of the axis: crossovers and saturation."""

from __future__ import annotations

import numpy as np

from crossover.analyse.claims.result import ONE_LAUNCH, Place
from crossover.analyse.estimators.crossover import crossing, sides
from crossover.analyse.statistics.intervals import Floats, estimate

ANYWHERE = (-np.inf, np.inf)


def passes(x: Floats, d: Floats, effect: float) -> Place:
    """The crossing of zero of log ratios `d`, shape (launches, cells), in logarithms of `x`.

    Its possible ranges allow for a difference between equal arms of `effect`. A single launch gives the point of its
    only change of sign, and no interval.
    """
    if len(d) < 2:
        return Place(_sign_change(x, d), (np.nan, np.nan), [ANYWHERE], ONE_LAUNCH)
    found = crossing(x, d)
    possible = _possible(x, d, effect)
    if found.verdict == "one" and found.x and found.low and found.high:
        return Place(float(np.log(found.x)), (float(np.log(found.low)), float(np.log(found.high))), possible)
    return Place(np.nan, (np.nan, np.nan), possible, STORIES[found.verdict])


STORIES = {
    "none": "no crossover was shown on this axis",
    "always": "the arms do not cross on this axis",
    "several": "the arms cross several times",
    "undecided": "the arms differ significantly nowhere",
}
"""Reasons for the verdicts on a crossover that give no point."""


def _possible(x: Floats, d: Floats, effect: float) -> list[tuple[float, float]]:
    """Parts of the axis, in logarithms, that can contain a single crossing.

    A cell is settled if it differs from zero by significantly more than `effect`. The crossing is anywhere between two
    settled cells of opposite sign.
    """
    if np.isnan(effect):
        return [ANYWHERE]
    side, u = sides(estimate(d), effect), np.log(x)
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


def _sign_change(x: Floats, d: Floats) -> float:
    """The only change of sign of one launch, as a logarithm of `x`; NaN if it changes sign never or repeatedly."""
    mean, u = d[0], np.log(x)
    kept = ~np.isnan(mean) & (mean != 0)
    mean, u = mean[kept], u[kept]
    (turns,) = np.nonzero(np.diff(np.sign(mean)))
    if turns.size != 1:
        return np.nan
    cell = turns[0]
    return float(u[cell] + (u[cell + 1] - u[cell]) * mean[cell] / (mean[cell] - mean[cell + 1]))


def apart(first: Place, second: Place) -> Place:
    """The distance of two points. Its interval is that of the two farthest pairs of ends."""
    ends = (first.ends[0] - second.ends[1], first.ends[1] - second.ends[0])
    possible = [(a - d, b - c) for a, b in first.possible for c, d in second.possible]
    return Place(first.centre - second.centre, ends, possible, first.story or second.story)


def saturates(x: Floats, d: Floats, share: float, effect: float) -> tuple[Place, bool]:
    """The first point at which a curve reaches a share of its largest value, in logarithms of `x`; one per launch.

    Also whether the largest value is at the end of the axis in any launch, so that the point is a lower bound. The
    possible range extends to the measured points around it, for shares that are off by up to `effect`.
    """
    whole = ~np.isnan(d).any(axis=1)
    if not whole.any():
        return Place(np.nan, (np.nan, np.nan), [ANYWHERE], "no launch measured all of the curve"), False
    d, u = d[whole], np.log(x)
    above = d - d.max(axis=1, keepdims=True) - np.log(share)
    found = estimate(np.array([_first(u, row) for row in above])[:, np.newaxis])
    ends, at_end = (float(found.low[0]), float(found.high[0])), bool((d.argmax(axis=1) == len(x) - 1).any())
    story = "" if len(d) > 1 else ONE_LAUNCH
    if np.isnan(effect) or len(d) < 2:
        return Place(float(found.mean[0]), ends, [ANYWHERE], story), at_end
    # The peak itself always reaches its share.
    cells = [[int(np.argmax(row >= min(shift, row.max()))) for row in above] for shift in (-effect, effect)]
    first = u[max(min(cells[0]) - 1, 0)] if min(cells[0]) else -np.inf
    last = np.inf if at_end else u[max(cells[1])]
    return Place(float(found.mean[0]), ends, [(float(first), float(last))], story), at_end


def _first(u: Floats, above: Floats) -> float:
    """The first point at which a curve reaches zero, interpolated."""
    cell = int(np.argmax(above >= 0))
    if cell == 0:
        return float(u[0])
    far = above[cell - 1] / (above[cell - 1] - above[cell])
    return float(u[cell - 1] + far * (u[cell] - u[cell - 1]))
