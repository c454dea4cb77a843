"""A part of a curve between two measured points: a fitted line if the part is straight, otherwise from point to point.

If arms cross slowly, points near the crossing can be on either side by chance; a line through all of them locates the
crossing better.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import fdtrc

from crossover.analyse.statistics.intervals import Estimate, Floats, between, complete_around, scatter, weighted

DOUBT = 0.2
"""The level of the lack-of-fit test: below this p-value, a part does not count as straight."""


@dataclass(frozen=True)
class Stretch:
    """A curve between two of its cells. Places are in units of cells: 3.5 is half way from cell 3 to cell 4 on the
    logarithmic axis."""

    u: Floats
    """Logarithms of the axis, rising, shape (cells,)."""
    d: Floats
    """The curve of each launch, shape (launches, cells)."""
    mean: Floats
    """Its mean over the launches, shape (cells,)."""
    first: int
    last: int
    """The cells at its ends."""
    bend: float | None = None
    """For a line, the variance of the means around it in excess of the variation between launches; None for point to
    point."""

    def at(self, places: Floats) -> Estimate:
        """The estimates at `places`, which must be within this part.

        On a line, the points' distances from it count as error too, in proportion to their weights in the line.
        """
        if self.bend is not None:
            weights = self._weights(places)
            line = weighted(self.d, self.mean, self.first, weights)
            return replace(line, error=np.sqrt(line.error**2 + (weights**2).sum(axis=1) * self.bend))
        if self.first == self.last:
            return weighted(self.d, self.mean, self.first, np.ones((len(places), 1)))
        lefts = np.minimum(places.astype(int), self.last - 1)
        found = np.empty((3, len(places)))
        for cell in set(lefts.tolist()):
            here = lefts == cell
            one = between(self.d, self.mean, cell, places[here] - cell)
            found[:, here] = one.mean, one.error, one.df
        return Estimate(*found)

    @property
    def zeros(self) -> Floats:
        """The places, rising, at which the mean is zero."""
        first, last = self.first, self.last
        if self.bend is not None:
            u = self.u[first : last + 1]
            left, right = self._weights(np.array([first, last], float)) @ self.mean[first : last + 1]
            if left * right >= 0:
                return np.array([])
            here = u[0] + (u[-1] - u[0]) * left / (left - right)
            return np.array([np.interp(here, u, np.arange(first, last + 1))])
        left, right = self.mean[first:last], self.mean[first + 1 : last + 1]
        cells = np.arange(first, last)
        turns = np.sign(left) * np.sign(right) < 0
        turned = cells[turns] + left[turns] / (left[turns] - right[turns])
        zeros = np.sort(np.concatenate([turned, cells[left == 0].astype(float)]))
        # If the mean at `last` is almost zero, rounding must not move a zero onto it.
        return np.asarray(np.minimum(zeros, np.nextafter(last, first)))

    def _weights(self, places: Floats) -> Floats:
        """The weight of each cell's mean in the least-squares line, at `places`; shape (places, cells)."""
        u = self.u[self.first : self.last + 1]
        off = u - u.mean()
        here = np.interp(places, np.arange(len(self.u)), self.u) - u.mean()
        return np.asarray(1 / len(u) + np.outer(here, off) / (off**2).sum())


def stretch(u: Floats, d: Floats, mean: Floats, first: int, last: int) -> Stretch:
    """The curve of `d`, shape (launches, cells), with this `mean`, over `u`, the logarithms of its axis, from cell
    `first` to cell `last`.

    A line needs at least three cells that at least two launches all measured, and must pass a lack-of-fit test at the
    level DOUBT. For a layout of launches by cells, the test compares the mean square of the means around their line
    with that of the launches' shifts in single cells (Draper and Smith, Applied Regression Analysis, 3rd edition,
    section 2.1).
    """
    broken = Stretch(u, d, mean, first, last)
    cells = np.arange(first, last + 1)
    complete, kept = complete_around(d, first, last)
    launches = len(complete)
    if len(cells) < 3 or launches < 2:
        return broken
    own = complete[:, np.searchsorted(kept, cells)]
    chance = scatter(own)
    if chance == 0:
        return broken
    freedoms = len(cells) - 2, (launches - 1) * (len(cells) - 1)
    if fdtrc(*freedoms, _around_line(u[cells], own.mean(axis=0)) / chance) < DOUBT:
        return broken
    return replace(broken, bend=max(_around_line(u[cells], mean[cells]) - chance, 0))


def _around_line(u: Floats, values: Floats) -> float:
    """The variance of at least three `values` around their line of least squares over `u`."""
    squares = np.polyfit(u, values, 1, full=True)[1]
    return float(squares[0]) / (len(u) - 2)
