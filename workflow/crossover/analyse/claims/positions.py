"""Quantities that are points of the axis: crossovers and saturation."""

import numpy as np

from crossover.analyse.claims.readings import peak
from crossover.analyse.claims.result import ONE_LAUNCH, Place
from crossover.analyse.curves.polyline import Stretch
from crossover.analyse.estimators.crossover import crossing
from crossover.analyse.statistics.intervals import Floats, estimate
from crossover.analyse.statistics.outcome import sides

ANYWHERE = (-np.inf, np.inf)
NOWHERE = np.array([np.nan])
FAR = np.log(10)
"""Measured points farther apart than a decade say nothing about the points between them."""


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


STORIES = {
    "none": "no crossover was shown on this axis",
    "always": "the arms do not cross on this axis",
    "several": "the arms cross several times",
    "alike": "the arms are alike on this axis",
    "open": "the arms differ nowhere beyond chance and possible bias",
}
"""Reasons for the verdicts on a crossover that give no point."""


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


def _first(u: Floats, above: Floats) -> float:
    """The first point at which a curve reaches zero, interpolated."""
    cell = int(np.argmax(above >= 0))
    around = slice(max(cell - 1, 0), cell + 1)
    return float(np.interp(0, above[around], u[around]))
