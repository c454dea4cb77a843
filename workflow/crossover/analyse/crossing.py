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
    """The verdict on one curve. All else is None unless it is `one`, or as said below, and in units of the axis."""

    verdict: Verdict
    x: float | None = None
    """Where the mean log ratio is zero."""
    low: float | None = None
    high: float | None = None
    """Ends of the interval. Of the verdicts `undecided` and `none` too: if there is one crossover on this axis, it is
    there; an end of the axis stands for what is beyond as well. None where it can be nowhere."""
    bracket_low: float | None = None
    bracket_high: float | None = None
    """Neighbouring measured points of significant and opposite sign: whatever the curve does in between,
    a cliff included, the crossover is there."""


def crossing(x: Floats, d: Floats) -> Crossing:
    """The crossover of a curve from `x`, rising, shape (cells,), and log ratios `d`, shape (launches, cells).

    The verdict is read along the axis from the signs that are significant after Holm: none significant is
    `undecided`; a single sign is `always` if every cell has it, else `none`; one change of sign is `one`;
    more are `several`. Counting raw signs would say `several` of most curves that differ nowhere.

    The interval inverts the test: it holds each point at which a ratio of 1 is not rejected, between the two
    measured points of the bracket. Beyond these the sign is settled, as far as one crossing goes: an undecided
    cell far out would speak of another crossing, and must not open the interval of this one. Where no bracket is
    settled it holds every such point of the axis, but for those between cells that are settled on the same side.
    So an interval is given whether or not the crossover was seen, and of all campaigns together the promised
    share hold the truth; of those alone that saw one it may be fewer, since some saw it because their launches
    agreed by chance.
    """
    measured = ~np.isnan(d).all(axis=0)
    x, d = x[measured], d[:, measured]
    cells = estimate(d)
    sign = sides(cells)
    settled = np.flatnonzero(sign)
    changes = np.flatnonzero(np.diff(sign[settled]))
    if changes.size > 1:
        return Crossing("several")
    if settled.size and not changes.size and sign.all():
        return Crossing("always")
    if not changes.size:
        room = _room(d, cells, settled) if len(d) > 1 else []
        low, high = (_on_axis(x, room[0][0]), _on_axis(x, room[-1][1])) if room else (None, None)
        return Crossing("none" if settled.size else "undecided", low=low, high=high)
    first, last = (int(settled[changes[0] + step]) for step in (0, 1))
    ends, zeros = _interval(d, cells, first, last), _zeros(cells.mean, first, last)
    assert ends  # the zeros are inside
    scaled = [_on_axis(x, place) for place in (zeros[len(zeros) // 2], *ends, first, last)]
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
    """Places between the cells `first` and `last` where the interpolated mean is zero; at least one if it turns."""
    left, right = mean[first:last], mean[first + 1 : last + 1]
    cells = np.arange(first, last)
    turns = np.sign(left) * np.sign(right) < 0
    between = cells[turns] + left[turns] / (left[turns] - right[turns])
    zeros = np.sort(np.concatenate([between, cells[left == 0].astype(float)]))
    # Where the mean at `last` is all but zero, rounding must not move a zero onto it.
    return np.asarray(np.minimum(zeros, np.nextafter(last, first)))


def _room(d: Floats, cells: Estimate, settled: NDArray[np.intp]) -> list[tuple[float, float]]:
    """Parts of the axis that a crossover could be in which was not shown: beyond the cells `settled` on one side."""
    last = len(cells.mean) - 1
    parts = [(0, int(settled[0])), (int(settled[-1]), last)] if settled.size else [(0, last)]
    return [found for part in parts if last >= 0 and (found := _interval(d, cells, *part))]


def _interval(d: Floats, cells: Estimate, first: int, last: int) -> tuple[float, float] | None:
    """The outermost places from cell `first` to cell `last` at which zero is not rejected; None where there is none."""
    zeros = _zeros(cells.mean, first, last)
    places = np.union1d(np.linspace(first, last, STEPS * (last - first) + 1), zeros)
    accepted = np.concatenate(
        [_accepts(d, cells.mean, cell, places[(places >= cell) & (places < cell + 1)]) for cell in range(first, last)]
        + [[~(np.abs(cells.mean[last]) > cells.margin[last])]]
    )
    accepted |= np.isin(places, zeros)  # rounding must not lose them where launches agree to the last bit
    inside = np.flatnonzero(accepted)
    if not inside.size:
        return None
    low, high = inside[0], inside[-1]
    return (
        _edge(d, cells.mean, places[low], places[max(low - 1, 0)]),
        _edge(d, cells.mean, places[high], places[min(high + 1, len(places) - 1)]),
    )


def _edge(d: Floats, mean: Floats, inside: float, outside: float) -> float:
    """The end of the interval between neighbouring places of which one belongs to it, by ever finer steps. At an end of
    the axis, beyond which is no other place, it is that.
    """
    if inside == outside:
        return float(inside)
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
