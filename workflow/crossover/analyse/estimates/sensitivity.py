"""The possible bias of an experiment, from its null arms, and the precision of its arms.

The null arm's true ratio is 1. Its measured ratio, averaged over the launches, scatters by chance, and by a bias that
other arms may have as well. Chance is part of each arm's own interval already, so only the rest counts here: the
variance of the null arms' true values around 1, as between the studies of a meta-analysis. A few cells can show little
of it by luck, so an upper bound is used, by the Q-profile (Viechtbauer, Stat. Med. 26 (2007) 37), in which noisy cells
count less. An arm's difference counts only beyond chance and this bias together.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import gammaincinv, ndtri

from crossover.analyse.estimates.curve import Curve, Row
from crossover.analyse.estimates.intervals import Floats, estimate
from crossover.records.record import CONFIDENCE

BOUND = 0.75
"""The confidence of the upper bound of the biases' variance. Enough for rare false differences in simulations, with as
few as four null cells; at 95 %, chance would count twice again."""

HALVINGS = 60
"""The steps of the search for the variance of biases: to the last digit."""

NO_NULL = "no null arm was replicated, so the possible bias is unknown"


def sensitivities(curves: Sequence[Curve]) -> Iterator[Row]:
    """The row of record.SENSITIVITY of each competing curve, in their order; ratios of at least 1.

    `smallest_effect` is NaN without a replicated null arm. `resolution` is half the width of the curve's intervals, the
    median over its cells; NaN if nothing is replicated.
    """
    biases = Biases(curves)
    for curve in curves:
        if curve.competes:
            used, margins = ~np.isnan(curve.ratios), estimate(curve.ratios).margin
            known = margins[~np.isnan(margins)]
            yield curve.facts | {
                "launches": int(used.any(axis=1).sum()),
                "cells": int(used.any(axis=0).sum()),
                "null_cells": biases.null_cells(curve),
                "smallest_effect": np.exp(biases.of(curve)),
                "resolution": np.exp(np.median(known)) if known.size else np.nan,
            }


class Biases:
    """The possible biases of an experiment's curves, from its null arms.

    Those of all protocols are pooled, so that a bound is based on more than a few cells.
    """

    def __init__(self, curves: Sequence[Curve]) -> None:
        seen: defaultdict[tuple[str, ...], list[Floats]] = defaultdict(list)
        for curve in curves:
            if curve.facts["is_null_arm"]:
                seen[_noise_of(curve)].append(_means(curve.ratios))
        self._means = {key: np.concatenate(parts, axis=1) for key, parts in seen.items()}
        self._largest = {key: largest_bias(*means) for key, means in self._means.items()}

    def of(self, curve: Curve) -> float:
        """The possible bias of a curve's ratios, as a logarithm; NaN without a replicated null arm."""
        return self._largest.get(_noise_of(curve), float("nan"))

    def null_cells(self, curve: Curve) -> int:
        """The number of replicated cells of the null arms behind it."""
        key = _noise_of(curve)
        return int(self._means[key].shape[1]) if key in self._means else 0


def largest_bias(means: Floats, variances: Floats) -> float:
    """The largest bias that null arms leave possible, in the unit of `means`; NaN without a mean.

    `means` has shape (cells,), `variances` are the squares of their standard errors. The result is the distance within
    which 95 % of biases lie, if they are normal with the upper bound of their variance: the variance with which so
    small a sum of the means' squares, each divided by its own variance and this one, has a probability of 1 - BOUND.
    Zero if chance alone explains the means.
    """
    cells = len(means)
    if not cells:
        return float("nan")
    quantile = 2 * gammaincinv(cells / 2, 1 - BOUND)

    def excess(variance: float) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = means**2 / (variances + variance)
        return float(np.nan_to_num(squares).sum() - quantile)

    low, high = 0.0, float((means**2).sum() / quantile)
    if excess(low) <= 0:
        return 0.0
    # Every term falls with the variance, so halving finds the only root.
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return float(ndtri((1 + CONFIDENCE) / 2) * np.sqrt(high))


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
    return curve.facts["experiment"], curve.facts["placement"], curve.facts["metric"]
