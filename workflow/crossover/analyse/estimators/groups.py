"""Cells whose launches form two groups, so that the mean over launches is the value of neither.

The state of an allocator, or a hypervisor's placement of two processors, can set a whole launch to one of two levels.
An interval over launches only becomes wide then, so such cells are reported.

The test is for one gap among the launches of a cell: the largest gap between neighbours, divided by the rest of their
range. Dixon's ratios for outliers (Biometrics 9 (1953) 74) are similar; here the gap can be anywhere. Its distribution
under one normal population is simulated, because the scale cancels. Three launches can hardly show two groups.
"""

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from crossover.analyse.curves.curve import Curve, Row
from crossover.analyse.statistics.intervals import Floats
from crossover.records.record import SIGNIFICANCE

SAMPLES = 2_000_000
"""Simulated launches for each number of launches: from 3 of them this gives p-values to a millionth or two."""

NOTICEABLE = np.log(1.1)
"""The smallest gap between groups that is reported."""


def groups(curves: Sequence[Curve]) -> Iterator[Row]:
    """The rows of record.GROUPS: both groups, the lower first, of each cell of a competing curve whose launches form
    two. `p` is adjusted for all cells of the experiment.

    The expected share of false findings among them is at most SIGNIFICANCE.
    """
    competing = [(curve, ~np.isnan(curve.ratios)) for curve in curves if curve.competes]
    cells = [(curve, at, known[:, at]) for curve, known in competing for at in np.flatnonzero(known.sum(axis=0) >= 3)]
    if not cells:
        return
    # Imported here because loading takes most of a second, and two launches never need it.
    from scipy.stats import false_discovery_control

    p = false_discovery_control([p_of_one_population(curve.ratios[known, at]) for curve, at, known in cells])
    for (curve, at, known), chance in zip(cells, p, strict=True):
        d = curve.ratios[:, at]
        ordered = np.sort(d[known])
        gap = int(np.argmax(np.diff(ordered)))
        low, high = ordered[gap : gap + 2]
        if chance <= SIGNIFICANCE and high - low >= NOTICEABLE:
            for number, members in enumerate((d <= low, d >= high), start=1):
                yield curve.facts | {
                    "x": curve.x[at],
                    "group": number,
                    "members": ", ".join(str(launch) for launch in np.array(curve.launches)[members]),
                    "launches": int(members.sum()),
                    "ratio": np.exp(d[members].mean()),
                    "p": chance,
                }


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
