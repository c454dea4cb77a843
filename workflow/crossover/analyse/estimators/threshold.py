"""The point of the axis from which a share reaches a level; for efficiency over task duration, this is METG.

METG, the minimum effective task granularity, is the shortest task duration from which a farm's efficiency is at least,
for example, 50 % (Slaughter et al., Task Bench, SC20).
"""

from dataclasses import replace

import numpy as np

from crossover.analyse.estimators.crossover import Crossing, crossing
from crossover.analyse.statistics.intervals import Floats, estimate
from crossover.analyse.statistics.outcome import sides
from crossover.analyse.statistics.scale import logit
from crossover.records.outcome import OPEN


def threshold(x: Floats, shares: Floats, level: float) -> Crossing:
    """The point at which a curve from `x`, rising, shape (cells,), and `shares`, shape (launches, cells), has `level`.

    The logits of the shares pass the logit of the level there. A task of duration t with a constant overhead o has
    efficiency t / (t + o), whose logit log(t / o) is a straight line over log t. So interpolating logits between
    distant points is exact, while interpolating the efficiency or its logarithm is not.
    """
    return onset(x, logit(shares) - logit(np.array(level)))


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
            return Crossing("at the latest", bracket_high=float(x[_start_of_last_run(side)]))
        case "none" if side[0] < 0:
            return Crossing("not yet", bracket_low=float(x[-1 - _start_of_last_run(side[::-1])]))
        case "none" if (side > 0).any():
            return Crossing("partly")
        case verdict:
            return Crossing("several" if verdict == "several" else OPEN)


def _start_of_last_run(side: Floats) -> int:
    """The first cell from which on all are on the side of the last."""
    others = np.flatnonzero(side != side[-1])
    return int(others[-1]) + 1 if others.size else 0
