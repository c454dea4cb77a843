"""The estimate of a claim's quantity: numbers with t intervals, or a point of the axis with its possible range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crossover.analyse.curves.curve import Curve
from crossover.analyse.statistics.intervals import Estimate, Floats
from crossover.analyse.statistics.scale import POSITIVE, Scale

ONE_LAUNCH = "only one launch measured it"


@dataclass(frozen=True)
class Place:
    """A point of the axis, in logarithms, from the inversion of a test; its numbers have shape (1,), NaN if unknown."""

    mean: Floats
    """The point."""
    low: Floats
    high: Floats
    """Ends of the interval, which allows for the possible bias."""
    possible: Sequence[tuple[float, float]]
    """Its possible ranges, allowing for it too."""
    story: str = ""
    """The reason if the point is unknown."""

    def with_bias(self, bias: Floats) -> Place:
        """The point itself: its interval was made with the bias of the curve below it."""
        return self

    def p_between(self, low: float, high: float) -> Floats:
        """0 if the point cannot be between the two, otherwise 1."""
        return np.array([float(any(first <= high and last >= low for first, last in self.possible))])

    def p_outside(self, low: float, high: float) -> Floats:
        """0 if the interval is between the two, otherwise 1."""
        return np.where((low <= self.low) & (self.high <= high), 0.0, 1.0)


Known = Estimate | Place
"""The estimates behind a verdict: `mean`, `low`, `high` and p-values, arrays with one entry for each number."""


@dataclass(frozen=True)
class Result:
    """An estimated quantity. Its numbers are in the claim's unit, or on `scale`."""

    known: Known
    curves: Sequence[Curve]
    """The curves behind it."""
    unit: str
    """The unit of its curve; empty if that does not apply."""
    log: bool
    """Whether its numbers are on `scale`."""
    effect: Floats
    """The possible bias of each number, on the same scale; NaN if unknown."""
    x: Sequence[float | None] = (None,)
    """The point of the axis of each number."""
    arms: Sequence[str] = ("",)
    """The arm that each number compares with, if there are several."""
    at_least: bool = False
    """Whether the number is only a lower bound, because the axis ends too early."""
    at_most: bool = False
    """Whether the number is only an upper bound, likewise."""
    missing: str = ""
    """The reason if a part of the claim cannot be judged."""
    between: tuple[float, float] | None = None
    """The measured points between which a number is interpolated."""
    apart: bool = False
    """Whether arms of different launches are compared, each by its ratio to the reference if there is one."""
    scale: Scale = POSITIVE
