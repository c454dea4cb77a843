"""The point of the axis from which a curve is above zero: crossovers and thresholds, or the verdict if there is none.

A crossover is the point from which an arm beats the reference. A threshold is the point from which a share reaches a
level; for efficiency over task duration, this is METG. METG, the minimum effective task granularity, is the shortest
task duration from which a farm's efficiency is at least, for example, 50 % (Slaughter et al., Task Bench, SC20).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from crossover.analyse.estimates.intervals import (
    Estimate,
    Floats,
    alike,
    between,
    complete_around,
    estimate,
    logit,
    scatter,
    sides,
    weighted,
)
from crossover.records.outcome import ALIKE, OPEN

DOUBT = 0.2
"""The level of the lack-of-fit test: below this p-value, a part does not count as straight."""

STEPS = 64
"""Test points between two neighbouring cells, and again between two of these at the ends of the interval."""

REFINEMENTS = 3
"""The number of refinements of the interval's ends: to less than 1e-7 of a step of the axis."""


LATEST, NOT_YET = "at the latest", "not yet"
"""The verdicts on a threshold of which only one bound is known: an upper, or a lower one."""


@dataclass(frozen=True)
class Crossing:
    """The verdict on one curve, of `crossing` or of `onset`. Numbers are in units of the axis; most are None
    unless the verdict is that there is one point."""

    verdict: str
    x: float | None = None
    """The zero of the mean curve, on a fitted line if the curve is straight there."""
    low: float | None = None
    high: float | None = None
    """Ends of the interval. For the verdicts `open`, `alike` and `none`, the possible range of a single crossover; an
    end of the axis includes everything beyond. None if there is no possible place."""
    bracket_low: float | None = None
    bracket_high: float | None = None
    """The nearest measured points with significant and opposite signs. The zero is between them, whatever the shape of
    the curve."""


@dataclass(frozen=True)
class Stretch:
    """A curve between two of its cells. Places are in units of cells: 3.5 is half way from cell 3 to cell 4 on the
    logarithmic axis.

    It is a fitted line if the part is straight, otherwise from point to point. If arms cross slowly, points near the
    crossing can be on either side by chance; a line through all of them locates the crossing better.
    """

    u: Floats
    """Logarithms of the axis, rising, shape (cells,)."""
    d: Floats
    """The curve of each launch, shape (launches, cells)."""
    mean: Floats
    """Its mean over the launches, shape (cells,)."""
    first: int
    last: int
    """The cells at its ends."""
    bend: float | None = None
    """For a line, the variance of the means around it in excess of the variation between launches; None for point to
    point."""

    def at(self, places: Floats) -> Estimate:
        """The estimates at `places`, which must be within this part.

        On a line, the points' distances from it count as error too, in proportion to their weights in the line.
        """
        if self.bend is not None:
            weights = self._weights(places)
            line = weighted(self.d, self.mean, self.first, weights)
            return replace(line, error=np.sqrt(line.error**2 + (weights**2).sum(axis=1) * self.bend))
        if self.first == self.last:
            return weighted(self.d, self.mean, self.first, np.ones((len(places), 1)))
        lefts = np.minimum(places.astype(int), self.last - 1)
        found = np.empty((3, len(places)))
        for cell in set(lefts.tolist()):
            here = lefts == cell
            one = between(self.d, self.mean, cell, places[here] - cell)
            found[:, here] = one.mean, one.error, one.df
        return Estimate(*found)

    @property
    def zeros(self) -> Floats:
        """The places, rising, at which the mean is zero."""
        first, last = self.first, self.last
        if self.bend is not None:
            u = self.u[first : last + 1]
            left, right = self._weights(np.array([first, last], float)) @ self.mean[first : last + 1]
            if left * right >= 0:
                return np.array([])
            here = u[0] + (u[-1] - u[0]) * left / (left - right)
            return np.array([np.interp(here, u, np.arange(first, last + 1))])
        left, right = self.mean[first:last], self.mean[first + 1 : last + 1]
        cells = np.arange(first, last)
        turns = np.sign(left) * np.sign(right) < 0
        turned = cells[turns] + left[turns] / (left[turns] - right[turns])
        zeros = np.sort(np.concatenate([turned, cells[left == 0].astype(float)]))
        # If the mean at `last` is almost zero, rounding must not move a zero onto it.
        return np.asarray(np.minimum(zeros, np.nextafter(last, first)))

    def _weights(self, places: Floats) -> Floats:
        """The weight of each cell's mean in the least-squares line, at `places`; shape (places, cells)."""
        u = self.u[self.first : self.last + 1]
        off = u - u.mean()
        here = np.interp(places, np.arange(len(self.u)), self.u) - u.mean()
        return np.asarray(1 / len(u) + np.outer(here, off) / (off**2).sum())


def crossing(x: Floats, d: Floats, bias: float = 0.0) -> Crossing:
    """The crossover of a curve from `x`, rising, shape (cells,), and log ratios `d`, shape (launches, cells), which can
    all be off by `bias`.

    The verdict follows from the signs along the axis that are significant after Holm (docs/data.md, "Crossover
    verdicts"). Counting raw signs would give `several` for most curves that differ nowhere.

    The interval inverts the test: it has every point at which a ratio of 1 is not rejected, between the two measured
    points of the bracket. Outside the bracket the sign is settled for this crossing; an open cell far out would
    belong to another crossing, and must not widen this interval. Without a bracket, the interval has every such point
    of the axis, except those between cells that are settled on the same side.

    So every curve has an interval, whether or not it shows a crossover, and over all campaigns the intervals have their
    nominal coverage. Among only those campaigns that show a crossover, coverage may be lower, because some show it
    only because their launches agree by chance.
    """
    measured = ~np.isnan(d).all(axis=0)
    x, d = x[measured], d[:, measured]
    cells = estimate(d)
    sign = sides(cells.with_bias(bias))
    settled = np.flatnonzero(sign)
    changes = np.flatnonzero(np.diff(sign[settled]))
    if changes.size > 1:
        return Crossing("several")
    if settled.size and not changes.size and sign.all():
        return Crossing("always")
    if not changes.size:
        # An undetected crossover is beyond the settled cells, which are all on one side.
        last = len(x) - 1
        parts = [(0, int(settled[0])), (int(settled[-1]), last)] if settled.size else [(0, last)]
        replicated = len(d) > 1 and len(x) > 0
        found = (_interval(stretch(np.log(x), d, cells.mean, *part), bias) for part in parts if replicated)
        possible = [ends for ends in found if ends]
        low, high = (_on_axis(x, possible[0][0]), _on_axis(x, possible[-1][1])) if possible else (None, None)
        if settled.size:
            return Crossing("none", low=low, high=high)
        return Crossing(ALIKE if alike(cells.with_bias(bias)).all() else OPEN, low=low, high=high)
    first, last = (int(settled[changes[0] + step]) for step in (0, 1))
    curve = stretch(np.log(x), d, cells.mean, first, last)
    if not curve.zeros.size:  # a line so flat that it passes zero elsewhere
        curve = replace(curve, bend=None)
    ends, zeros = _interval(curve, bias), curve.zeros
    assert ends  # the zeros are inside
    scaled = [_on_axis(x, place) for place in (zeros[len(zeros) // 2], *ends, first, last)]
    return Crossing("one", *scaled)


def threshold(x: Floats, shares: Floats, level: float) -> Crossing:
    """The point at which a curve from `x`, rising, shape (cells,), and `shares`, shape (launches, cells), has `level`.

    The logits of the shares pass the logit of the level there. A task of duration t with a constant overhead o has
    efficiency t / (t + o), whose logit log(t / o) is a straight line over log t. So interpolating logits between
    distant points is exact, while interpolating the efficiency or its logarithm is not.
    """
    return onset(x, logit(shares) - logit(np.array(level)))


def levels_reached(x: Floats, shares: Floats, levels: Sequence[float]) -> list[Crossing]:
    """The `threshold` of each level, which rise.

    A curve has a level no later than a higher one, so an open threshold takes the bounds of the levels beside it.
    """
    found = [threshold(x, shares, level) for level in levels]
    latest, earliest = math.inf, 0.0
    for place, own in reversed([*enumerate(found)]):
        latest = min(latest, own.high or own.bracket_high or math.inf) if own.verdict in ("from", LATEST) else latest
        if own.verdict in (LATEST, NOT_YET, "partly", OPEN) and latest < math.inf:
            found[place] = Crossing(LATEST, bracket_high=latest)
    for place, own in enumerate(found):
        earliest = max(earliest, own.low or own.bracket_low or 0) if own.verdict in ("from", NOT_YET) else earliest
        if own.verdict == NOT_YET:
            found[place] = Crossing(NOT_YET, bracket_low=earliest)
    return found


def onset(x: Floats, d: Floats, bias: float = 0.0) -> Crossing:
    """The point of the axis from which a curve from `x`, rising, shape (cells,), and `d`, shape (launches, cells), is
    above zero, beyond a `bias`; docs/data.md defines the verdicts under "Threshold verdicts"."""
    measured = ~np.isnan(d).all(axis=0)
    x, d = x[measured], d[:, measured]
    found, side = crossing(x, d, bias), sides(estimate(d).with_bias(bias))
    match found.verdict:
        case "one":
            return replace(found, verdict="from" if side[np.flatnonzero(side)[0]] < 0 else "up to")
        case "always":
            return Crossing("always" if side[0] > 0 else "never")
        case "none" if side[-1] > 0:
            return Crossing(LATEST, bracket_high=float(x[_start_of_last_run(side)]))
        case "none" if side[0] < 0:
            return Crossing(NOT_YET, bracket_low=float(x[-1 - _start_of_last_run(side[::-1])]))
        case "none" if (side > 0).any():
            return Crossing("partly")
        case verdict:
            return Crossing("several" if verdict == "several" else OPEN)


def stretch(u: Floats, d: Floats, mean: Floats, first: int, last: int) -> Stretch:
    """The curve of `d`, shape (launches, cells), with this `mean`, over `u`, the logarithms of its axis, from cell
    `first` to cell `last`.

    A line needs at least three cells that at least two launches all measured, and must pass a lack-of-fit test at the
    level DOUBT. For a layout of launches by cells, the test compares the mean square of the means around their line
    with that of the launches' shifts in single cells (Draper and Smith, Applied Regression Analysis, 3rd edition,
    section 2.1).
    """
    broken = Stretch(u, d, mean, first, last)
    cells = np.arange(first, last + 1)
    complete, kept = complete_around(d, first, last)
    launches = len(complete)
    if len(cells) < 3 or launches < 2:
        return broken
    own = complete[:, np.searchsorted(kept, cells)]
    chance = scatter(own)
    if chance == 0:
        return broken
    freedoms = len(cells) - 2, (launches - 1) * (len(cells) - 1)
    if fdtrc(*freedoms, _around_line(u[cells], own.mean(axis=0)) / chance) < DOUBT:
        return broken
    return replace(broken, bend=max(_around_line(u[cells], mean[cells]) - chance, 0))


def _around_line(u: Floats, values: Floats) -> float:
    """The variance of at least three `values` around their line of least squares over `u`."""
    squares = np.polyfit(u, values, 1, full=True)[1]
    return float(squares[0]) / (len(u) - 2)


def _on_axis(x: Floats, place: float) -> float:
    cell = int(min(place, len(x) - 1))
    beyond = place - cell
    return float(x[cell] * (x[cell + 1] / x[cell]) ** beyond) if beyond else float(x[cell])


def _interval(curve: Stretch, bias: float) -> tuple[float, float] | None:
    """The outermost points of `curve` at which zero is not rejected; None if there are none."""
    zeros = curve.zeros
    places = np.union1d(np.linspace(curve.first, curve.last, STEPS * (curve.last - curve.first) + 1), zeros)
    # Rounding must not lose the zeros where launches agree to the last bit.
    inside = np.flatnonzero(_accepts(curve, places, bias) | np.isin(places, zeros))
    if not inside.size:
        return None
    low, high = inside[0], inside[-1]
    return (
        _edge(curve, bias, places[low], places[max(low - 1, 0)]),
        _edge(curve, bias, places[high], places[min(high + 1, len(places) - 1)]),
    )


def _edge(curve: Stretch, bias: float, inside: float, outside: float) -> float:
    """The end of the interval between neighbouring points `inside` and `outside` it, found in finer and finer steps.

    At an end of the axis, the two points are the same.
    """
    if inside == outside:
        return float(inside)
    for _ in range(REFINEMENTS):
        places = np.linspace(inside, outside, STEPS + 1)
        beyond = np.flatnonzero(~_accepts(curve, places[1:-1], bias))
        step = int(beyond[0]) if beyond.size else STEPS - 1
        inside, outside = places[step], places[step + 1]
    return float(inside)


def _accepts(curve: Stretch, places: Floats, bias: float) -> NDArray[np.bool_]:
    """Whether a log ratio of zero is accepted at `places`; without an error, it is."""
    here = curve.at(places).with_bias(bias)
    return np.asarray(~(np.abs(here.mean) > here.margin))


def _start_of_last_run(side: Floats) -> int:
    """The first cell from which on all are on the side of the last."""
    others = np.flatnonzero(side != side[-1])
    return int(others[-1]) + 1 if others.size else 0
