"""The point of the axis from which a share reaches a level; for efficiency over task duration, this is METG.

METG, the minimum effective task granularity, is the shortest task duration from which a farm's efficiency is at least,
for example, 50 % (Slaughter et al., Task Bench, SC20).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from crossover.analyse.estimators.crossover import crossing, sides
from crossover.analyse.statistics.intervals import Floats, estimate
from crossover.analyse.statistics.scale import logit

Verdict = Literal["from", "up to", "always", "never", "at the latest", "not yet", "several", "undecided"]


@dataclass(frozen=True)
class Threshold:
    """The verdict on one curve and level; numbers are in units of the axis, and None if the verdict has none."""

    verdict: Verdict
    x: float | None = None
    """The point at which the mean curve passes the level."""
    low: float | None = None
    high: float | None = None
    """Ends of the interval."""
    bracket_low: float | None = None
    bracket_high: float | None = None
    """Neighbouring measured points of which one is significantly below the level and the other above."""


def threshold(x: Floats, shares: Floats, level: float) -> Threshold:
    """The point at which a curve from `x`, rising, shape (cells,), and `shares`, shape (launches, cells), has `level`.

    The logits of the shares pass the logit of the level there. A task of duration t with a constant overhead o has
    efficiency t / (t + o), whose logit log(t / o) is a straight line over log t. So interpolating logits between
    distant points is exact, while interpolating the efficiency or its logarithm is not.
    """
    return onset(x, logit(shares) - logit(np.array(level)))


def onset(x: Floats, d: Floats) -> Threshold:
    """The point of the axis from which a curve from `x`, rising, shape (cells,), and `d`, shape (launches, cells), is
    above zero.

    `crossing` finds the zero: `from` upwards, `up to` downwards. `always` and `never` hold significantly at every cell.
    If only one end of the axis is settled, there is a bound: `at the latest` from bracket_high on, or `not yet` at
    bracket_low. Everything else is `several` or `undecided`, as for a crossover.
    """
    measured = ~np.isnan(d).all(axis=0)
    x, d = x[measured], d[:, measured]
    found, side = crossing(x, d), sides(estimate(d))
    match found.verdict:
        case "one":
            rising = side[np.flatnonzero(side)[0]] < 0
            places = (found.x, found.low, found.high, found.bracket_low, found.bracket_high)
            return Threshold("from" if rising else "up to", *places)
        case "always":
            return Threshold("always" if side[0] > 0 else "never")
        case "none" if side[-1] > 0:
            return Threshold("at the latest", bracket_high=float(x[_start_of_last_run(side)]))
        case "none" if side[0] < 0:
            return Threshold("not yet", bracket_low=float(x[-1 - _start_of_last_run(side[::-1])]))
        case "several":
            return Threshold("several")
        case _:
            return Threshold("undecided")


def _start_of_last_run(side: Floats) -> int:
    """The first cell from which on all are on the side of the last."""
    others = np.flatnonzero(side != side[-1])
    return int(others[-1]) + 1 if others.size else 0
