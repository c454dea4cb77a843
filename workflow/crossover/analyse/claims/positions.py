"""Quantities that are points of the axis: crossovers and saturation."""

import numpy as np

from crossover.analyse.claims.result import ONE_LAUNCH, Place
from crossover.analyse.curves.polyline import Stretch
from crossover.analyse.estimators.crossover import crossing, sides
from crossover.analyse.statistics.intervals import Floats, estimate

ANYWHERE = (-np.inf, np.inf)
NOWHERE = np.array([np.nan])


def passes(x: Floats, d: Floats, effect: float) -> Place:
    """The crossing of zero of log ratios `d`, shape (launches, cells), in logarithms of `x`.

    Its possible ranges allow for a bias of `effect`. A single launch gives the point of its
    only change of sign, and no interval.
    """
    if len(d) < 2:
        return Place(_sign_change(x, d), NOWHERE, NOWHERE, [ANYWHERE], ONE_LAUNCH)
    found = crossing(x, d)
    possible = _possible(x, d, effect)
    if found.verdict != "one":
        return Place(NOWHERE, NOWHERE, NOWHERE, possible, STORIES[found.verdict])
    centre, low, high = np.log(np.array([[found.x], [found.low], [found.high]], float))
    return Place(centre, low, high, possible)


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


def _sign_change(x: Floats, d: Floats) -> Floats:
    """The only change of sign of one launch, as a logarithm of `x`; NaN if it changes sign never or repeatedly."""
    kept = ~np.isnan(d[0]) & (d[0] != 0)
    u, d = np.log(x[kept]), d[:, kept]
    zeros = Stretch(u, d, d[0], 0, len(u) - 1).zeros
    return np.interp(zeros, np.arange(len(u)), u) if zeros.size == 1 else NOWHERE


def apart(first: Place, second: Place) -> Place:
    """The distance of two points. Its interval is that of the two farthest pairs of ends."""
    possible = [(a - d, b - c) for a, b in first.possible for c, d in second.possible]
    story = first.story or second.story
    return Place(first.mean - second.mean, first.low - second.high, first.high - second.low, possible, story)


def saturates(x: Floats, d: Floats, share: float, effect: float) -> tuple[Place, bool]:
    """The first point at which a curve reaches a share of its largest value, in logarithms of `x`; one per launch.

    Also whether the largest value is at the end of the axis in any launch, so that the point is a lower bound. The
    possible range extends to the measured points around it, for shares that are off by up to `effect`.
    """
    whole = ~np.isnan(d).any(axis=1)
    if not whole.any():
        return Place(NOWHERE, NOWHERE, NOWHERE, [ANYWHERE], "no launch measured all of the curve"), False
    d, u = d[whole], np.log(x)
    above = d - d.max(axis=1, keepdims=True) - np.log(share)
    found = estimate(np.array([_first(u, row) for row in above])[:, np.newaxis])
    at_end = bool((d.argmax(axis=1) == len(x) - 1).any())
    story = "" if len(d) > 1 else ONE_LAUNCH
    if np.isnan(effect) or len(d) < 2:
        return Place(found.mean, found.low, found.high, [ANYWHERE], story), at_end
    # The peak itself always reaches its share.
    cells = [[int(np.argmax(row >= min(shift, row.max()))) for row in above] for shift in (-effect, effect)]
    first = u[max(min(cells[0]) - 1, 0)] if min(cells[0]) else -np.inf
    last = np.inf if at_end else u[max(cells[1])]
    return Place(found.mean, found.low, found.high, [(float(first), float(last))], story), at_end


def _first(u: Floats, above: Floats) -> float:
    """The first point at which a curve reaches zero, interpolated."""
    cell = int(np.argmax(above >= 0))
    around = slice(max(cell - 1, 0), cell + 1)
    return float(np.interp(0, above[around], u[around]))
