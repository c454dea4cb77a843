"""The point of the axis from which an arm beats the reference, or the verdict if there is no such point."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crossover.analyse.curves.polyline import Stretch, stretch
from crossover.analyse.statistics.intervals import Floats, estimate
from crossover.analyse.statistics.outcome import alike, sides
from crossover.records.outcome import ALIKE, OPEN

STEPS = 64
"""Test points between two neighbouring cells, and again between two of these at the ends of the interval."""

REFINEMENTS = 3
"""The number of refinements of the interval's ends: to less than 1e-7 of a step of the axis."""


@dataclass(frozen=True)
class Crossing:
    """The verdict on one curve, of `crossing` or of `threshold.onset`. Numbers are in units of the axis; most are None
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
