"""Cells whose launches form two groups, so that the mean over launches is the value of neither.

The state of an allocator, or a hypervisor's placement of two processors, can set a whole launch to one of two levels.
An interval over launches only becomes wide then, so such cells are reported.

The test is for one gap among the launches of a cell: the largest gap between neighbours, divided by the rest of their
range. Dixon's ratios for outliers (Biometrics 9 (1953) 74) are similar; here the gap can be anywhere. Its distribution
under one normal population is simulated, because the scale cancels. Three launches can hardly show two groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from crossover.analyse.curves.curve import Curve
from crossover.analyse.statistics.intervals import Floats
from crossover.records.record import SIGNIFICANCE

SAMPLES = 2_000_000
"""Simulated launches for each number of launches: from 3 of them this gives p-values to a millionth or two."""

NOTICEABLE = np.log(1.1)
"""The smallest gap between groups that is reported."""


@dataclass(frozen=True)
class Group:
    """Launches of one cell that agree with each other, and differ from the other group's."""

    curve: Curve
    x: float
    launches: list[int]
    ratio: float
    """Logarithm: the mean over these launches."""
    p: float
    """p-value of so large a gap if all launches are of one population, adjusted for all cells of the experiment."""


def groups(curves: Iterable[Curve]) -> Iterator[Group]:
    """Both groups, the lower first, of each cell of a competing curve whose launches form two groups.

    The expected share of false findings among them is at most SIGNIFICANCE.
    """
    cells = [(curve, at) for curve in curves if curve.competes for at in np.flatnonzero(measured(curve.ratios) >= 3)]
    if not cells:
        return
    # Imported here because loading takes most of a second, and two launches never need it.
    from scipy.stats import false_discovery_control

    p = false_discovery_control([p_of_one_population(_known(curve.ratios[:, at])) for curve, at in cells])
    for (curve, at), chance in zip(cells, p, strict=True):
        d = curve.ratios[:, at]
        low, high = split(_known(d))
        if chance <= SIGNIFICANCE and high - low >= NOTICEABLE:
            for members in (d <= low, d >= high):
                names = [number for number, belongs in zip(curve.launches, members, strict=True) if belongs]
                yield Group(curve, float(curve.x[at]), names, float(d[members].mean()), float(chance))


def measured(d: Floats) -> Floats:
    """The number of launches that measured each cell of `d`, shape (launches, cells)."""
    return np.asarray((~np.isnan(d)).sum(axis=0))


def split(values: Floats) -> tuple[float, float]:
    """The values at both ends of the largest gap.

    >>> split(np.array([3.0, 1.0, 1.5, 7.0]))
    (3.0, 7.0)
    """
    ordered = np.sort(values)
    at = int(np.argmax(np.diff(ordered)))
    return float(ordered[at]), float(ordered[at + 1])


def p_of_one_population(values: Floats) -> float:
    """The probability of so large a gap among as many values of one normal population; 1 if all are equal."""
    if np.ptp(values) == 0:
        return 1.0
    simulated = _simulated(len(values))
    above = len(simulated) - np.searchsorted(simulated, gap_over_rest(values))
    return float((above + 1) / (len(simulated) + 1))


def gap_over_rest(values: Floats) -> Floats:
    """The largest gap between neighbours along the last axis, over the rest of the range; infinite without a rest."""
    gaps = np.diff(np.sort(values, axis=-1), axis=-1)
    largest = gaps.max(axis=-1)
    with np.errstate(divide="ignore"):
        return np.asarray(largest / np.maximum(gaps.sum(axis=-1) - largest, 0))


@cache
def _simulated(launches: int) -> Floats:
    """Ratios of `gap_over_rest`, simulated for one normal population, rising."""
    shape = SAMPLES // launches, launches
    return np.sort(gap_over_rest(np.random.default_rng(launches).standard_normal(shape)))


def _known(d: Floats) -> Floats:
    return d[~np.isnan(d)]
