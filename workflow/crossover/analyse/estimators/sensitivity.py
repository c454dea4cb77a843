"""The smallest detectable effect of an experiment, from its null arms, and the precision of its arms.

The null arm's true ratio is 1. Its measured ratio, averaged over the launches, scatters by chance, and by a bias that
other arms may have as well. Chance is part of each arm's own interval already, so only the rest counts here: the mean
square of the null arms' means, minus the mean square of their standard errors. This is the variance between studies of
DerSimonian and Laird (Controlled Clin. Trials 7 (1986) 177), around a known mean. A few cells can show a small rest by
luck, so an upper bound of it is used (Viechtbauer, Stat. Med. 26 (2007) 37). An arm's difference counts only if it is
significantly larger.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import gammaincinv, ndtri

from crossover.analyse.curves.curve import Curve, Row
from crossover.analyse.statistics.intervals import Floats, estimate
from crossover.records.record import CONFIDENCE

BOUND = 0.75
"""The confidence of the upper bound of the biases' variance. Enough for rare false differences in simulations, with as
few as four null cells; at 95 %, chance would count twice again."""

NO_NULL = "no null arm was replicated, so the smallest detectable effect is unknown"


def sensitivities(curves: Sequence[Curve]) -> Iterator[Row]:
    """The row of record.SENSITIVITY of each competing curve, in their order; ratios of at least 1.

    `smallest_effect` is NaN without a replicated null arm. `resolution` is half the width of the curve's intervals, the
    median over its cells; NaN if nothing is replicated.
    """
    seen: defaultdict[tuple[str, ...], list[Floats]] = defaultdict(list)
    for curve in curves:
        if curve.facts["null"]:
            seen[_noise_of(curve)].append(_means(curve.ratios))
    for curve in curves:
        if curve.competes:
            null = np.concatenate([np.empty((2, 0)), *seen[_noise_of(curve)]], axis=1)
            used, margins = ~np.isnan(curve.ratios), estimate(curve.ratios).margin
            known = margins[~np.isnan(margins)]
            yield curve.facts | {
                "launches": int(used.any(axis=1).sum()),
                "cells": int(used.any(axis=0).sum()),
                "null_cells": null.shape[1],
                "smallest_effect": np.exp(largest_bias(*null)),
                "resolution": np.exp(np.median(known)) if known.size else np.nan,
            }


def largest_bias(means: Floats, variances: Floats) -> float:
    """The largest bias that null arms leave possible, in the unit of `means`; NaN without a mean.

    `means` has shape (cells,), `variances` are the squares of their standard errors. The result is the distance within
    which 95 % of biases lie, if they are normal with the upper bound of their variance: the variance with which so
    small a sum of squares of all means has a probability of 1 - BOUND. Zero if chance alone explains the means.
    """
    cells = len(means)
    if not cells:
        return float("nan")
    quantile = 2 * gammaincinv(cells / 2, 1 - BOUND)
    variance = max((means**2).sum() / quantile - variances.mean(), 0)
    return float(ndtri((1 + CONFIDENCE) / 2) * np.sqrt(variance))


def _means(d: Floats) -> Floats:
    """The means over launches of the replicated cells of `d`, shape (launches, cells), and the squares of their
    standard errors.

    Each from its own cell's launches alone: these are right on average, while the errors of intervals are often the
    larger of two.
    """
    launches = (~np.isnan(d)).sum(axis=0)
    d, launches = d[:, launches > 1], launches[launches > 1]
    return np.stack([np.nanmean(d, axis=0), np.nanvar(d, axis=0, ddof=1) / launches])


def _noise_of(curve: Curve) -> tuple[str, ...]:
    """The key of pooled null arms: protocols are pooled, so that the bound is based on more than a few cells."""
    return curve.facts["experiment"], curve.facts["placement"], curve.facts["metric"]
