"""Estimates of cells from a few launches: means, intervals, p-values, verdicts.

The unit of replication is the launch. Everything here works on `d`, of shape (launches, cells): each launch's median
over its rounds of a log value or a log ratio, with cells in the order of the axis, and NaN if a launch has no valid
block. Rounds and cells never count as independent. With a launch effect they are not, and intervals that count them
have far less than their nominal coverage.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, stdtr, stdtrit

from crossover.records.outcome import ALIKE, BETTER, HORIZON, KNOWN, OPEN, WORSE
from crossover.records.record import CONFIDENCE, FACTOR, SHARE, SIGNIFICANCE

Floats = NDArray[np.float64]
Cells = NDArray[np.intp]

WINDOW = 5
"""Neighbouring cells whose variance is pooled."""

ENOUGH = 8
"""With this many launches, a cell's own variance is known well enough, and nothing is pooled."""

MOST = 0.999
"""The largest share; closer to 1, the logit consists of rounding errors and the clock's noise."""


@dataclass(frozen=True)
class Estimate:
    """Estimates at some positions of the axis; every field has their shape, in log units.

    If only one launch measured a position, `error`, `df` and the interval are NaN: not replicated.
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
        return np.asarray(stdtrit(self.df, (1 + CONFIDENCE) / 2) * self.error)

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
        """Two-sided p-value of a mean of zero; 1 without an error. Launches that agree exactly give 0."""
        return np.minimum(2 * self._tail(np.abs(self.mean)), 1)

    def with_bias(self, bias: float | Floats) -> Estimate:
        """The estimates with an interval for chance and bias together; NaN if the `bias` is.

        95 % of possible biases lie within `bias`. Chance and bias are independent, so that half the width of the
        interval is the root of the sum of both squares.
        """
        return replace(self, error=np.hypot(self.error, bias / stdtrit(self.df, (1 + CONFIDENCE) / 2)))

    def p_between(self, low: float, high: float) -> Floats:
        """p-value of a mean from `low` to `high`: the test against the nearer end; 1 without an error."""
        nearest = np.clip(self.mean, low, high)
        return np.where(self.mean == nearest, 1.0, replace(self, mean=self.mean - nearest).p)

    def p_outside(self, low: float, high: float) -> Floats:
        """p-value of a mean that is not between `low` and `high`, one of which may be infinite; 1 without an error.

        Two one-sided tests (Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987) 657): a small p-value shows that the mean
        is equivalent to one between them. A large one does not show that it differs.
        """
        return self._tail(np.minimum(self.mean - low, high - self.mean))

    def _tail(self, distance: Floats) -> Floats:
        """The probability that chance takes the mean so far in one direction; 1 without an error."""
        with np.errstate(divide="ignore", invalid="ignore"):
            p = stdtr(self.df, -np.where(distance == 0, 0.0, distance / self.error))
        return np.where(np.isnan(self.error) | np.isnan(self.mean), 1.0, p)


def estimate(d: Floats) -> Estimate:
    """Mean, error and degrees of freedom of each cell of `d`, shape (launches, cells).

    A cell's mean uses every launch that measured it, and its variance is pooled over the nearest cells that all of
    these launches measured. So a gap narrows the window of the cells around it, but never costs a launch, and no value
    is imputed.
    """
    mean, error, df = np.full((3, d.shape[1]), np.nan)
    measured = ~np.isnan(d)
    # Cells that the same launches measured are estimated from the same part of `d`.
    for launches in set(map(tuple, measured.T)):
        if any(launches):
            cells = np.flatnonzero(np.equal(launches, measured.T).all(axis=1))
            complete, kept = complete_around(d, cells[0])
            at = np.searchsorted(kept, cells)
            mean[cells] = complete.mean(axis=0)[at]
            error[cells], df[cells] = (found[at] for found in error_of_mean(complete, *pooled(complete)))
    return Estimate(mean, error, df)


def complete_around(d: Floats, cell: int, last: int | None = None) -> tuple[Floats, Cells]:
    """The largest part of `d` without gaps that has every launch that measured `cell` (up to `last`).

    Returns that part, of shape (launches', cells'), and the numbers of its cells, rising. The part is empty if no
    launch measured there.
    """
    missing = np.isnan(d)
    wanted = slice(cell, (cell if last is None else last) + 1)
    here = ~np.asarray(missing[:, wanted].any(axis=1))
    kept = np.flatnonzero(~missing[here].any(axis=0))
    return d[here][:, kept], kept


def pooled(d: Floats) -> tuple[Floats, Floats, int]:
    """Variance between launches around each cell, in two parts: shifts of a launch in the whole window, and shifts in
    single cells.

    `d` has shape (launches, cells), without gaps. Returns the parts a and b, of shape (cells,), and the cells in a
    window: WINDOW of them centred on the cell, shifted inwards at the ends of the axis, fewer on a shorter axis. For a
    window of one cell, nothing is pooled, and a = b = 0.

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

    `values` has shape (launches, ...); `a` and `b` are the parts of the pooled variance there and `width` its window
    (see `pooled`). The larger of the cell's own and the pooled variance is used, so that a cell noisier than its
    neighbours keeps its noise. Degrees of freedom by Satterthwaite: from launches - 1, if all variance is shifts of the
    whole window, up to width times as many. The noisier a cell is than its neighbours, the less they tell of it: those
    beyond launches - 1 count in proportion to the square of pooled over own variance.
    """
    n = len(values) - 1
    if n < 1:
        nothing = np.full(values.shape[1:], np.nan)
        return nothing, nothing
    total = np.asarray(a) + np.asarray(b)
    # Without pooled variance there is only the cell's own: n degrees of freedom instead of 0 / 0.
    shared = np.divide(a, total, out=np.ones_like(total), where=total > 0)
    df = n / (shared**2 + (1 - shared) ** 2 / max(width - 1, 1))
    variance = np.maximum(values.var(axis=0, ddof=1), total)
    told = np.divide(total, variance, out=np.ones_like(total), where=variance > 0) ** 2
    return np.asarray(np.sqrt(variance / (n + 1))), np.asarray(n + (df - n) * told)


def scatter(d: Floats) -> float:
    """The variance of the cells' means over launches from the launches' shifts in single cells.

    `d` has shape (launches, cells), at least two of each, without gaps. A launch that is slower everywhere moves all
    means alike, and does not count. Formula: mean square of the interaction of launches and cells, divided by the
    launches.
    """
    launches, cells = d.shape
    rest = d - d.mean(axis=0)
    rest = rest - rest.mean(axis=1, keepdims=True)
    return float((rest**2).sum() / ((launches - 1) * (cells - 1)) / launches)


def between(d: Floats, mean: Floats, cell: int, far: Floats) -> Estimate:
    """The estimates at the fractions `far` of the way from `cell` to its right neighbour: weighted means of the two."""
    return weighted(d, mean, cell, np.stack([1 - far, far], axis=-1))


def weighted(d: Floats, mean: Floats, first: int, weights: Floats) -> Estimate:
    """The estimates of weighted means of neighbouring cells, `first` the leftmost; `weights` has shape (means, cells),
    and the weights of a mean have the sum 1.

    This extends the rule for single cells: the `mean` of the cells and each launch's values are weighted, and so are
    the two parts of the pooled variance. A shift of the whole window affects all cells alike. A shift of a single cell
    counts fully in a mean of one cell, and partly in a mean of several. A mean of a whole window is the basis of the
    first part, so from there on nothing is pooled, and the spread of the launches' own means is used. Only launches
    that measured all of the cells count; with fewer than two there is no error. The error of a cell that more launches
    measured decreases with the square root of their number.
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
    # A line's weights are negative far from the requested place.
    shared = np.where(few, np.maximum(weights @ a[at], 0), 0)
    single = np.where(few, (weights**2 @ b[at]) / squares * (width * squares - 1) / max(width - 1, 1), 0)
    error, df = error_of_mean(complete[:, at] @ weights.T, shared, single, width)
    known = np.sqrt(len(complete) / (~np.isnan(d[:, cells])).sum(axis=0))
    shares = np.abs(weights)
    return Estimate(centre, error * (shares @ known) / shares.sum(axis=1), df)


def difference(first: Estimate, second: Estimate) -> Estimate:
    """The first of two independent estimates minus the second, position by position.

    Variances add; degrees of freedom by Welch and Satterthwaite. NaN if either was not replicated.
    """
    a, b = first.error**2, second.error**2
    total = a + b
    # Launches that agree exactly leave no parts to weigh; then both degrees of freedom count fully.
    share = np.divide(a, total, out=np.full_like(total, 0.5), where=total > 0)
    df = 1 / (share**2 / first.df + (1 - share) ** 2 / second.df)
    return Estimate(first.mean - second.mean, np.sqrt(total), df)


def holm(p: Floats, weights: Floats | None = None) -> Floats:
    """p-values adjusted so that the probability of any false rejection among them stays at the level.

    `weights`, none of them negative, divide the level among the tests; by default all are equal. Holm, Scand. J.
    Statist. 6 (1979) 65.
    """
    share = np.ones_like(p) if weights is None else weights
    # A test without weight never rejects.
    relative = np.divide(p, share, out=np.ones_like(p), where=share > 0)
    order = np.argsort(np.where(share > 0, relative, np.inf), kind="stable")
    # The weights of all tests that are not rejected yet.
    left = np.cumsum(share[order][::-1])[::-1]
    steps = np.maximum.accumulate(np.where(share[order] > 0, relative[order] * left, 1.0))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(steps, 1)
    return adjusted


def sides(cells: Estimate) -> Floats:
    """The side of zero of each cell of a curve: 1 or -1 if it is significant after Holm, 0 if not, NaN if not measured.

    All cells are tested together, so that among arms that are alike at most one curve in twenty shows a difference.
    """
    signs = np.sign(cells.mean) * (holm(cells.p) <= SIGNIFICANCE)
    return np.where(np.isnan(cells.mean), np.nan, signs)


def alike(cells: Estimate) -> NDArray[np.bool_]:
    """Whether the interval of each cell lies within the factor KNOWN, in either direction."""
    return np.asarray(np.maximum(np.abs(cells.low), np.abs(cells.high)) <= np.log(KNOWN))


def verdicts(cells: Estimate) -> list[str]:
    """The verdict on an arm in each cell of a curve, from the logarithm of the factor by which it is better, with bias
    (Estimate.with_bias). They are decided only here."""
    return [
        {1: BETTER, -1: WORSE}.get(side, ALIKE if equal else OPEN)
        for side, equal in zip(sides(cells), alike(cells), strict=True)
    ]


def launches_needed(cells: Estimate, bias: float, launches: NDArray[np.int_], told: list[str]) -> list[int | None]:
    """For each OPEN cell of `told`, the fewest launches that would decide it if mean and variance stayed the same.

    `cells` are without bias, `launches` those behind each cell. A difference must pass the test of all cells that are
    not decided yet. None for a cell with another verdict, one without an interval, and for more than HORIZON times the
    present launches.
    """
    found: list[int | None] = [None] * len(told)
    # The strictest level that Holm applies to one of them.
    level = SIGNIFICANCE / max(sum(verdict in (OPEN, ALIKE) for verdict in told), 1)
    for cell in np.flatnonzero((np.array(told) == OPEN) & ~np.isnan(cells.error) & ~np.isnan(bias)):
        now = launches[cell]
        more = np.arange(now + 1, HORIZON * now + 1)
        df = cells.df[cell] * (more - 1) / (now - 1)
        usual = stdtrit(df, (1 + CONFIDENCE) / 2)
        error = np.hypot(cells.error[cell] * np.sqrt(now / more), bias / usual)
        distance = abs(cells.mean[cell])
        enough = more[(stdtrit(df, 1 - level / 2) * error < distance) | (distance + usual * error <= np.log(KNOWN))]
        found[cell] = int(enough[0]) if enough.size else None
    return found


@dataclass(frozen=True)
class Scale:
    """A rising function of a metric's values, and its inverse; both take and return arrays of any shape.

    On it, values are averaged and get their intervals. Most metrics are just positive, and their scale is the
    logarithm. A share, such as an efficiency, is also at most 1, but an interval of its logarithm could end above 1.
    Its scale is the logit, log(v / (1 - v)), whose intervals end inside (0, 1). For small shares, the logit is the
    logarithm. Near 1, it is minus the logarithm of the loss 1 - v, so neighbouring cells whose losses differ by a
    factor of ten still have similar scatter, as pooling their variance requires. A metric in `times` is a factor over a
    lower bound, and so the inverse of a share. Its scale is the logarithm of its excess over 1.
    """

    of_log: Callable[[Floats], Floats]
    """The number on this scale, from the logarithm of a value."""
    value: Callable[[Floats], Floats]
    """The value, from the number on this scale."""

    def lowered(self, number: Floats, effect: Floats) -> Floats:
        """The distance on this scale from `number` down to its value divided by exp(`effect`)."""
        return np.asarray(number - self.of_log(np.log(self.value(number)) - effect))


def logit(shares: Floats) -> Floats:
    """The logits of shares; a share above MOST counts as MOST."""
    clipped = np.minimum(shares, MOST)
    return np.asarray(np.log(clipped / (1 - clipped)))


POSITIVE = Scale(of_log=np.asarray, value=np.exp)
BOUNDED = Scale(of_log=lambda logs: logit(np.exp(logs)), value=expit)
ABOVE_ONE = Scale(of_log=lambda logs: -logit(np.exp(-logs)), value=lambda numbers: 1 + np.exp(numbers))


def scale_of(unit: str) -> Scale:
    """The scale of a metric that has this unit."""
    return {SHARE: BOUNDED, FACTOR: ABOVE_ONE}.get(unit, POSITIVE)
