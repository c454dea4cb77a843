"""The smallest detectable effect of an experiment, from its null arms, and the precision of its arms.

The null arm's true ratio is 1. Its measured ratio, averaged over the launches, shows a bias that other arms may have as
well. So an arm's difference counts only if it is significantly larger. The effect of chance shows in each arm's own
interval instead.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from crossover.analyse.curves.curve import Curve, Row
from crossover.analyse.statistics.intervals import estimate

QUANTILE = 0.975
"""The quantile of the null arm's distances from a ratio of 1; the largest would grow with the number of cells."""

NO_NULL = "no null arm was replicated, so the smallest detectable effect is unknown"


def sensitivities(curves: Sequence[Curve]) -> Iterator[Row]:
    """The row of record.SENSITIVITY of each competing curve, in their order; ratios of at least 1.

    `smallest_effect` is NaN without a replicated null arm. `resolution` is half the width of the curve's intervals, the
    median over its cells; NaN if nothing is replicated.
    """
    seen: defaultdict[tuple[str, ...], list[float]] = defaultdict(list)
    for curve in curves:
        if curve.facts["null"]:
            cells = estimate(curve.ratios)
            seen[_noise_of(curve)].extend(np.abs(cells.mean[~np.isnan(cells.margin)]))
    for curve in curves:
        if curve.competes:
            null, used, margins = seen[_noise_of(curve)], ~np.isnan(curve.ratios), estimate(curve.ratios).margin
            known = margins[~np.isnan(margins)]
            yield curve.facts | {
                "launches": int(used.any(axis=1).sum()),
                "cells": int(used.any(axis=0).sum()),
                "null_cells": len(null),
                "smallest_effect": np.exp(np.quantile(null, QUANTILE)) if null else np.nan,
                "resolution": np.exp(np.median(known)) if known.size else np.nan,
            }


def _noise_of(curve: Curve) -> tuple[str, ...]:
    """The key of pooled null arms: protocols are pooled, so that the quantile is based on more than a few cells."""
    return curve.facts["experiment"], curve.facts["placement"], curve.facts["metric"]
