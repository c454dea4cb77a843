"""Where along the axis an arm starts to beat the reference, or why that cannot be said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crossover.analyse.statistics import (
    LEVEL,
    Estimate,
    Floats,
    between,
    estimate,
    holm,
)

Verdict = Literal["one", "none", "always", "several", "undecided"]

STEPS = 64
"""Points looked at between two neighbouring cells, and again between two of these where the interval ends."""

REFINEMENTS = 3
"""How often the ends of the interval are looked at more closely: to less than 1e-7 of a step of the axis."""


@dataclass(frozen=True)
class Crossing:
    """The verdict on one curve. All but the verdict are None unless it is `one`, and in units of the axis."""

    verdict: Verdict
    x: float | None = None
    """Where the mean log ratio is zero."""
    low: float | None = None
    high: float | None = None
    """Ends of the interval."""
    bracket_low: float | None = None
    bracket_high: float | None = None
    """Neighbouring measured points of significant and opposite sign: whatever the curve does in between,
    a cliff included, the crossover is there."""


def crossing(x: Floats, d: Floats) -> Crossing:
    """The crossover of a curve from `x`, rising, shape (cells,), and log ratios `d`, shape (launches, cells).

    The verdict is read along the axis from the signs that are significant after Holm: none significant is
    `undecided`; a single sign is `always` if every cell has it, else `none`; one change of sign is `one`;
    more are `several`. Counting raw signs would say `several` of most curves that differ nowhere.

    The interval inverts the test: it holds each point at which a ratio of 1 is not rejected, between the
    two measured points of the bracket. Beyond these the sign is settled, as far as one crossing goes: an
    undecided cell far out would speak of another crossing, and must not open the interval of this one.
    """
    measured = ~np.isnan(d).all(axis=0)
    x, d = x[measured], d[:, measured]
    cells = estimate(d)
    sign = sides(cells)
    settled = np.flatnonzero(sign)
    if not settled.size:
        return Crossing("undecided")
    changes = np.flatnonzero(np.diff(sign[settled]))
    if not changes.size:
        return Crossing("always" if sign.all() else "none")
    if changes.size > 1:
        return Crossing("several")
    first, last = (int(settled[changes[0] + step]) for step in (0, 1))
    zeros = _zeros(cells.mean, first, last)
    low, high = _interval(d, cells.mean, first, last, zeros)
    scaled = [_on_axis(x, place) for place in (zeros[len(zeros) // 2], low, high, first, last)]
    return Crossing("one", *scaled)


def sides(cells: Estimate, effect: float = 0.0) -> Floats:
    """On which side of zero each cell is: 1 or -1 where it is significantly beyond `effect`, after Holm, else 0."""
    return np.asarray(np.sign(cells.mean) * (holm(cells.p_within(effect)) <= 1 - LEVEL))


# ---- places: cell 3 is at 3.0, and 3.5 is half way to cell 4 on the logarithmic axis


def _on_axis(x: Floats, place: float) -> float:
    cell = int(min(place, len(x) - 1))
    beyond = place - cell
    return float(x[cell] * (x[cell + 1] / x[cell]) ** beyond) if beyond else float(x[cell])


def _zeros(mean: Floats, first: int, last: int) -> Floats:
    """Places between the cells `first` and `last` where the interpolated mean is zero; at least one."""
    left, right = mean[first:last], mean[first + 1 : last + 1]
    cells = np.arange(first, last)
    turns = np.sign(left) * np.sign(right) < 0
    between = cells[turns] + left[turns] / (left[turns] - right[turns])
    zeros = np.sort(np.concatenate([between, cells[left == 0].astype(float)]))
    # Where the mean at `last` is all but zero, rounding must not move a zero onto it.
    return np.asarray(np.minimum(zeros, np.nextafter(last, first)))


def _interval(d: Floats, mean: Floats, first: int, last: int, zeros: Floats) -> tuple[float, float]:
    """The outermost places between the cells `first` and `last` at which zero is not rejected."""
    places = np.union1d(np.linspace(first, last, STEPS * (last - first) + 1), zeros)
    accepted = np.concatenate(
        [_accepts(d, mean, cell, places[(places >= cell) & (places < cell + 1)]) for cell in range(first, last)]
        + [[False]]
    )
    accepted |= np.isin(places, zeros)  # rounding must not lose them where launches agree to the last bit
    inside = np.flatnonzero(accepted)
    return (
        _edge(d, mean, places[inside[0]], places[max(inside[0] - 1, 0)]),
        _edge(d, mean, places[inside[-1]], places[inside[-1] + 1]),
    )


def _edge(d: Floats, mean: Floats, inside: float, outside: float) -> float:
    """The end of the interval between neighbouring places of which one belongs to it, by ever finer steps."""
    cell = int(min(inside, outside))
    for _ in range(REFINEMENTS):
        places = np.linspace(inside, outside, STEPS + 1)
        beyond = np.flatnonzero(~_accepts(d, mean, cell, places[1:-1]))
        step = int(beyond[0]) if beyond.size else STEPS - 1
        inside, outside = places[step], places[step + 1]
    return float(inside)


def _accepts(d: Floats, mean: Floats, cell: int, places: Floats) -> NDArray[np.bool_]:
    """Whether a log ratio of zero is not rejected at `places` between `cell` and its right neighbour; where launches
    are too few for an error, nothing is.
    """
    here = between(d, mean, cell, places - cell)
    accepted: NDArray[np.bool_] = ~(np.abs(here.mean) > here.margin)
    return accepted
