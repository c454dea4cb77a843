"""A curve from one of its measured points to another: a line if it is as good as straight, else from point to point.

Where arms cross slowly, each of the points around the crossing may lie on either side by chance; a line through all of
them knows better where they cross.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import fdtrc

from crossover.analyse.statistics.intervals import Estimate, Floats, between, complete_around, scatter, weighted

DOUBT = 0.2
"""A line is not drawn if points of a straight curve would be farther from theirs in fewer campaigns than this share."""


@dataclass(frozen=True)
class Stretch:
    """A curve between two of its cells. Places are told in cells: 3.5 is half way from cell 3 to cell 4 on the
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
    """If it is a line: the variance of the means around it beyond what the launches differ by; None from point to
    point."""

    @property
    def broken(self) -> Stretch:
        """The same from point to point."""
        return replace(self, bend=None)

    def at(self, places: Floats) -> Estimate:
        """The estimates at `places`, all of them on the stretch.

        On a line, what its points are off by counts as error too, in the part in which the line is made of them.
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
        # Where the mean at `last` is all but zero, rounding must not move a zero onto it.
        return np.asarray(np.minimum(zeros, np.nextafter(last, first)))

    def _weights(self, places: Floats) -> Floats:
        """Of each cell's mean in the line of least squares through all, at `places`; shape (places, cells)."""
        u = self.u[self.first : self.last + 1]
        off = u - u.mean()
        here = np.interp(places, np.arange(len(self.u)), self.u) - u.mean()
        return np.asarray(1 / len(u) + np.outer(here, off) / (off**2).sum())


def stretch(u: Floats, d: Floats, mean: Floats, first: int, last: int) -> Stretch:
    """The curve of `d`, shape (launches, cells), with this `mean`, over `u`, the logarithms of its axis, from cell
    `first` to cell `last`.

    A line goes through at least three cells which at least two launches all measured, and only if those raise no DOUBT
    in it: the lack-of-fit test of a layout of launches by cells, in which the mean square of the means around their
    line is held against that of what each launch shifts in single cells (Draper and Smith, Applied Regression Analysis,
    3rd edition, section 2.1).
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
