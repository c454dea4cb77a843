"""The verdicts on the points of a curve: the only place where they are decided."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from crossover.analyse.statistics.intervals import Estimate, Floats, holm
from crossover.records.outcome import ALIKE, BETTER, HORIZON, KNOWN, OPEN, WORSE
from crossover.records.record import CONFIDENCE, SIGNIFICANCE


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
    (Estimate.with_bias)."""
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
