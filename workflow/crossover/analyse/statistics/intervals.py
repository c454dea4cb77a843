"""What a few launches say about a cell: a mean, an interval, a p-value.

The unit of replication is the launch. Everything here works on `d`, of shape (launches, cells): each
launch's median over its rounds of a log value or of a log ratio, the cells in the order of the axis, NaN
where a launch has no sane block. Rounds and cells are never counted as independent: with a launch effect
they are not, and intervals that count them cover far less than they promise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

Floats = NDArray[np.float64]
Cells = NDArray[np.intp]

LEVEL = 0.95
"""Confidence of every interval; the tests use the complement."""

WINDOW = 5
"""Neighbouring cells whose variance is pooled."""

ENOUGH = 8
"""Launches from which a cell's own variance is known well enough, and nothing is pooled."""


@dataclass(frozen=True)
class Estimate:
    """What the launches say at each of some positions on the axis; every field has their shape, in log units.

    Where a single launch measured, `error` and `df` are NaN, and so is the interval: not replicated.
    """

    mean: Floats
    """Mean over the launches."""
    error: Floats
    """Standard error of the mean."""
    df: Floats
    """Degrees of freedom of the error."""

    @property
    def margin(self) -> Floats:
        """Half the width of the interval."""
        return np.asarray(stdtrit(self.df, (1 + LEVEL) / 2) * self.error)

    @property
    def low(self) -> Floats:
        """Lower end of the interval."""
        return self.mean - self.margin

    @property
    def high(self) -> Floats:
        """Upper end of the interval."""
        return self.mean + self.margin

    @property
    def p(self) -> Floats:
        """Two-sided p-value of a mean of zero."""
        return self.p_within(0)

    def p_within(self, effect: float | Floats) -> Floats:
        """Two-sided p-value of a mean that is no farther from zero than `effect`; 1 where there is no error.

        A minimum-effect test: with `effect` zero the usual one. Launches that agree to the last bit give 0, or 1
        if they agree on a mean within.
        """
        excess = np.maximum(np.abs(self.mean) - effect, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = excess / self.error
        p = 2 * stdtr(self.df, -np.where(excess == 0, 0.0, distance))
        return np.where(np.isnan(self.error) | np.isnan(self.mean), 1.0, p)

    def p_outside(self, bound: float) -> Floats:
        """p-value of a mean that is at least `bound` from zero; 1 where there is no error.

        Two one-sided tests (Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987) 657): where it is small, the mean is
        equivalent to zero within the bound. A large one does not say that it differs.
        """
        room = bound - np.abs(self.mean)
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = room / self.error
        p = stdtr(self.df, -np.where(room == 0, 0.0, distance))
        return np.where(np.isnan(self.error) | np.isnan(self.mean), 1.0, p)


def estimate(d: Floats) -> Estimate:
    """Mean, error and degrees of freedom of each cell of `d`, shape (launches, cells).

    A cell's mean takes every launch that measured it, and its variance is pooled over the nearest cells
    that all of these launches measured. So a gap costs the cells around it a part of their window, never
    a launch, and no value is made up.
    """
    mean, error, df = np.full((3, d.shape[1]), np.nan)
    measured = ~np.isnan(d)
    # Cells that the same launches measured share the part of `d` that they are estimated from.
    for launches in set(map(tuple, measured.T)):
        if any(launches):
            cells = np.flatnonzero(np.equal(launches, measured.T).all(axis=1))
            complete, kept = complete_around(d, cells[0])
            at = np.searchsorted(kept, cells)
            mean[cells] = complete.mean(axis=0)[at]
            error[cells], df[cells] = (found[at] for found in error_of_mean(complete, *pooled(complete)))
    return Estimate(mean, error, df)


def complete_around(d: Floats, cell: int, last: int | None = None) -> tuple[Floats, Cells]:
    """The largest part of `d` without gaps that keeps every launch measuring `cell` (up to `last`).

    Returns that part, of shape (launches', cells'), and the numbers of its cells, rising. The part has no
    launch if none measured there.
    """
    missing = np.isnan(d)
    wanted = slice(cell, (cell if last is None else last) + 1)
    here = ~np.asarray(missing[:, wanted].any(axis=1))
    kept = np.flatnonzero(~missing[here].any(axis=0))
    return d[here][:, kept], kept


def pooled(d: Floats) -> tuple[Floats, Floats, int]:
    """Variance between launches around each cell, in two parts: what a launch shifts in the whole window, and
    what it shifts in single cells.

    `d` has shape (launches, cells), without gaps. Returns the parts a and b, of shape (cells,), and the cells
    in a window: WINDOW of them centred on the cell, shifted inwards at the ends of the axis, fewer on a
    shorter axis. A window of one cell has nothing to pool and says so with a = b = 0.

    Formula: two-way layout of the residuals r, launches by cells, with mean squares MSB between launches
    and MSC within; a = MSB / w, b = (w - 1) MSC / w, so that a + b estimates the variance of one cell.
    """
    launches, cells = d.shape
    width = min(WINDOW, cells) if 1 < launches < ENOUGH else 1
    if width == 1:
        return np.zeros(cells), np.zeros(cells), 1
    starts = np.clip(np.arange(cells) - width // 2, 0, cells - width)
    r = d - d.mean(axis=0)
    windows = r[:, starts[:, np.newaxis] + np.arange(width)]
    shift = windows.mean(axis=2)
    a = (shift**2).sum(axis=0) / (launches - 1)
    b = ((windows - shift[:, :, np.newaxis]) ** 2).sum(axis=2).sum(axis=0) / (width * (launches - 1))
    return a, b, width


def error_of_mean(values: Floats, a: Floats, b: Floats, width: int) -> tuple[Floats, Floats]:
    """Standard error of the mean over launches, and its degrees of freedom.

    `values` has shape (launches, ...); `a` and `b` are the parts of the pooled variance there and `width`
    its window (see `pooled`). The larger of the own and the pooled variance counts, so that a cell noisier
    than its neighbours keeps its noise. Degrees of freedom: Satterthwaite, from launches - 1 where the
    parts are one shift of the window up to width times as many.
    """
    n = len(values) - 1
    if n < 1:
        nothing = np.full(values.shape[1:], np.nan)
        return nothing, nothing
    total = np.asarray(a) + np.asarray(b)
    # Without any pooled variance there is one part, the own: n degrees of freedom instead of 0 / 0.
    shared = np.divide(a, total, out=np.ones_like(total), where=total > 0)
    df = n / (shared**2 + (1 - shared) ** 2 / max(width - 1, 1))
    variance = np.maximum(values.var(axis=0, ddof=1), total)
    return np.asarray(np.sqrt(variance / (n + 1))), np.asarray(df)


def scatter(d: Floats) -> float:
    """The variance of the cells' means over the launches by what each launch shifts in single cells.

    `d` has shape (launches, cells), at least two of each, without gaps. A launch that is slower everywhere moves all
    means alike, and does not count. Formula: mean square of the interaction of launches and cells, over the launches.
    """
    launches, cells = d.shape
    rest = d - d.mean(axis=0)
    rest = rest - rest.mean(axis=1, keepdims=True)
    return float((rest**2).sum() / ((launches - 1) * (cells - 1)) / launches)


def between(d: Floats, mean: Floats, cell: int, far: Floats) -> Estimate:
    """The estimates at the fractions `far` of the way from `cell` to its right neighbour, both of `d`'s cells: those of
    the mean of both that is weighted by them."""
    return weighted(d, mean, cell, np.stack([1 - far, far], axis=-1))


def weighted(d: Floats, mean: Floats, first: int, weights: Floats) -> Estimate:
    """The estimates of weighted means of neighbouring cells, `first` the leftmost; `weights` has shape (means, cells of
    them), and those of one mean have the sum 1.

    The rule of the cells, carried over: the `mean` of the cells and each launch's values are weighted, and the two
    parts of the pooled variance become those of a weighted mean. What a launch shifts in the whole window it shifts in
    all cells alike; what it shifts in single cells counts whole in a mean of one cell, and in part in one of several.
    A mean of as many as a window has is what the first part was estimated from: there and beyond nothing is pooled, and
    the launches' own means say how much they differ. Only launches count for this that measured all of the cells; where
    these are fewer than two there is no error. A cell that more launches measured is known better, by the root of their
    number.
    """
    cells = np.arange(first, first + weights.shape[1])
    complete, kept = complete_around(d, cells[0], cells[-1])
    centre = weights @ mean[cells]
    if len(complete) < 2:
        return Estimate(centre, *np.full((2, len(weights)), np.nan))
    at = np.searchsorted(kept, cells)
    a, b, width = pooled(complete)
    squares = (weights**2).sum(axis=1)
    few = width * squares > 1
    # A line's weights are negative far from where it is asked for.
    shared = np.where(few, np.maximum(weights @ a[at], 0), 0)
    single = np.where(few, (weights**2 @ b[at]) / squares * (width * squares - 1) / max(width - 1, 1), 0)
    error, df = error_of_mean(complete[:, at] @ weights.T, shared, single, width)
    known = np.sqrt(len(complete) / (~np.isnan(d[:, cells])).sum(axis=0))
    shares = np.abs(weights)
    return Estimate(centre, error * (shares @ known) / shares.sum(axis=1), df)


def difference(first: Estimate, second: Estimate) -> Estimate:
    """The first of two independent estimates minus the second, position by position.

    Variances add; degrees of freedom: Welch and Satterthwaite. NaN where either was not replicated.
    """
    a, b = first.error**2, second.error**2
    total = a + b
    # Launches that agree to the last bit leave no parts to weigh: then either's degrees of freedom count in full.
    share = np.divide(a, total, out=np.full_like(total, 0.5), where=total > 0)
    df = 1 / (share**2 / first.df + (1 - share) ** 2 / second.df)
    return Estimate(first.mean - second.mean, np.sqrt(total), df)


def holm(p: Floats, weights: Floats | None = None) -> Floats:
    """p-values adjusted so that the chance of any false rejection among them stays at the level.

    `weights`, none of them negative, share the level among the tests; without them all have the same. Holm, Scand. J.
    Statist. 6 (1979) 65.
    """
    share = np.ones_like(p) if weights is None else weights
    # What has no weight is not tested.
    relative = np.divide(p, share, out=np.ones_like(p), where=share > 0)
    order = np.argsort(np.where(share > 0, relative, np.inf), kind="stable")
    # The weights of all that is not rejected yet.
    left = np.cumsum(share[order][::-1])[::-1]
    steps = np.maximum.accumulate(np.where(share[order] > 0, relative[order] * left, 1.0))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(steps, 1)
    return adjusted
