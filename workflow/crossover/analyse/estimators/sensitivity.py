"""The smallest detectable effect of an experiment, from its null arms, and the precision of its arms.

The null arm's true ratio is 1. Its measured ratio, averaged over the launches, shows a bias that other arms may have as
well. So an arm's difference counts only if it is significantly larger. The effect of chance shows in each arm's own
interval instead.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from crossover.analyse.curves.curve import Curve
from crossover.analyse.statistics.intervals import estimate

QUANTILE = 0.975
"""The quantile of the null arm's distances from a ratio of 1; the largest would grow with the number of cells."""


NO_NULL = "no null arm was replicated, so the smallest detectable effect is unknown"


@dataclass(frozen=True)
class Sensitivity:
    """The sensitivity of one competing curve; distances are logarithms of ratios."""

    curve: Curve
    null_cells: int
    """Cells of null arms behind `smallest_effect`, of all protocols of the curve's experiment, placement and metric."""
    smallest_effect: float
    """The smallest detectable effect, from the null arms. NaN without a replicated null arm."""
    resolution: float
    """Half the width of the curve's intervals, the median over its cells. NaN if nothing is replicated."""


def sensitivities(curves: Iterable[Curve]) -> Iterator[Sensitivity]:
    """The sensitivity of each competing curve, in their order."""
    every = list(curves)
    seen: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
    for curve in every:
        if curve.facts["null"]:
            cells = estimate(curve.ratios)
            seen[_noise_of(curve)].extend(np.abs(cells.mean[~np.isnan(cells.margin)]))
    for curve in every:
        if curve.competes:
            null = seen[_noise_of(curve)]
            smallest = float(np.quantile(null, QUANTILE)) if null else np.nan
            margins = estimate(curve.ratios).margin
            known = margins[~np.isnan(margins)]
            resolution = float(np.median(known)) if known.size else np.nan
            yield Sensitivity(curve, len(null), smallest, resolution)


def _noise_of(curve: Curve) -> tuple[str, str, str]:
    """The key of pooled null arms: protocols are pooled, so that the quantile is based on more than a few cells."""
    return curve.facts["experiment"], curve.facts["placement"], curve.facts["metric"]
