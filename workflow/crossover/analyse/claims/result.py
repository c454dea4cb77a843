"""The estimate of a claim's quantity: numbers, or a point of the axis with its possible range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crossover.analyse.curves.curve import Curve
from crossover.analyse.statistics.intervals import Estimate, Floats
from crossover.analyse.statistics.scale import POSITIVE, Scale

ONE_LAUNCH = "only one launch measured it"


@dataclass(frozen=True)
class Numbers:
    """Numbers with a t interval each."""

    estimate: Estimate
    effect: Floats
    """The smallest detectable effect of each number."""

    @property
    def value(self) -> Floats:
        """The means over launches."""
        return self.estimate.mean

    @property
    def low(self) -> Floats:
        """Lower ends of their intervals; NaN if not replicated."""
        return self.estimate.low

    @property
    def high(self) -> Floats:
        """Upper ends."""
        return self.estimate.high

    def p_outside(self, low: float, high: float) -> Floats:
        """p-values of being in the range from `low` to `high`, or outside by at most the smallest detectable effect.

        The minimum-effect test against the nearer end of the range; 1 if the value is in the range.
        """
        nearest = np.clip(self.value, low, high)
        within = (self.value == nearest) | np.isnan(self.effect)
        return np.where(within, 1.0, self._moved(nearest).p_within(self.effect))

    def p_inside(self, low: float, high: float) -> Floats:
        """p-values of being outside the range from `low` to `high`: the larger one of two one-sided tests."""
        sides = [self._moved(end).p / 2 for end in (low, high) if np.isfinite(end)]
        inside = (self.value > low) & (self.value < high)
        return np.where(inside, np.max(sides, axis=0), 1.0)

    def _moved(self, end: float | Floats) -> Estimate:
        return Estimate(self.value - end, self.estimate.error, self.estimate.df)


@dataclass(frozen=True)
class Place:
    """A point of the axis, in logarithms, from the inversion of a test."""

    centre: float
    """NaN if unknown."""
    ends: tuple[float, float]
    """The interval."""
    possible: Sequence[tuple[float, float]]
    """Its possible ranges, allowing for the smallest detectable effect."""
    story: str = ""
    """The reason if the point is unknown."""

    @property
    def value(self) -> Floats:
        """The point."""
        return np.array([self.centre])

    @property
    def low(self) -> Floats:
        """Lower end of the interval."""
        return np.array([self.ends[0]])

    @property
    def high(self) -> Floats:
        """Upper end."""
        return np.array([self.ends[1]])

    def p_outside(self, low: float, high: float) -> Floats:
        """0 if the point cannot be between the two, otherwise 1; the interval already contains the test."""
        return np.array([float(any(first <= high and last >= low for first, last in self.possible))])

    def p_inside(self, low: float, high: float) -> Floats:
        """0 if the interval is between the two, otherwise 1."""
        return np.array([float(not (low <= self.ends[0] and self.ends[1] <= high))])


Known = Numbers | Place
"""The estimates behind a verdict: `value`, `low`, `high` and p-values, arrays with one entry for each number."""


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
    """The smallest detectable effect of each number, on the same scale; NaN if unknown."""
    neutral: float | None = None
    """The number that means no difference, if there is one."""
    x: Sequence[float | None] = (None,)
    """The point of the axis of each number."""
    arms: Sequence[str] = ("",)
    """The arm that each number compares with, if there are several."""
    at_least: bool = False
    """Whether the number is only a lower bound, because the axis ends too early."""
    missing: str = ""
    """The reason if a part of the claim cannot be judged."""
    between: tuple[float, float] | None = None
    """The measured points between which a number is interpolated."""
    apart: bool = False
    """Whether arms of different launches are compared, each by its ratio to the reference if there is one."""
    instead: str = ""
    """The reason if the claim's first alternative was not measured and another one replaces it."""
    scale: Scale = POSITIVE
