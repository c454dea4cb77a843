"""What became of a claim's quantity: estimates of numbers, or a place on the axis with all that it could be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from crossover.analyse.curves.curve import Curve
from crossover.analyse.statistics.intervals import Estimate, Floats
from crossover.analyse.statistics.scale import POSITIVE, Scale


class Known(Protocol):
    """What a verdict asks of a quantity; every array has one entry for each number that the claim is about."""

    @property
    def value(self) -> Floats:
        """The numbers themselves."""

    @property
    def low(self) -> Floats:
        """Lower ends of their intervals; NaN where nothing is replicated."""

    @property
    def high(self) -> Floats:
        """Upper ends."""

    def p_outside(self, low: float, high: float) -> Floats:
        """p-values of lying within `low` and `high`, or out by no more than the smallest detectable effect."""

    def p_inside(self, low: float, high: float) -> Floats:
        """p-values of lying outside `low` and `high`."""


@dataclass(frozen=True)
class Numbers:
    """Numbers with a t interval each."""

    estimate: Estimate
    effect: Floats
    """What equal arms could make up in each."""

    @property
    def value(self) -> Floats:
        """The means over launches."""
        return self.estimate.mean

    @property
    def low(self) -> Floats:
        """Lower ends of their intervals."""
        return self.estimate.low

    @property
    def high(self) -> Floats:
        """Upper ends."""
        return self.estimate.high

    def p_outside(self, low: float, high: float) -> Floats:
        """The minimum-effect test against the end that is passed; 1 where the value lies within."""
        nearest = np.clip(self.value, low, high)
        within = (self.value == nearest) | np.isnan(self.effect)
        return np.where(within, 1.0, self._moved(nearest).p_within(self.effect))

    def p_inside(self, low: float, high: float) -> Floats:
        """Two one-sided tests: the larger p-value."""
        sides = [self._moved(end).p / 2 for end in (low, high) if np.isfinite(end)]
        inside = (self.value > low) & (self.value < high)
        return np.where(inside, np.max(sides, axis=0), 1.0)

    def _moved(self, end: float | Floats) -> Estimate:
        return Estimate(self.value - end, self.estimate.error, self.estimate.df)


@dataclass(frozen=True)
class Place:
    """A place on the axis, in logarithms, from a test's inversion."""

    centre: float
    """NaN where it cannot be said."""
    ends: tuple[float, float]
    """The interval."""
    possible: Sequence[tuple[float, float]]
    """Where it could be, if equal arms differ by what they were seen to."""
    story: str = ""
    """Why it cannot be said where it is."""

    @property
    def value(self) -> Floats:
        """The place."""
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
        """0 where it cannot be between the two, else 1: the test was made when the interval was found."""
        return np.array([float(any(first <= high and last >= low for first, last in self.possible))])

    def p_inside(self, low: float, high: float) -> Floats:
        """0 where the interval is between the two, else 1."""
        return np.array([float(not (low <= self.ends[0] and self.ends[1] <= high))])


@dataclass(frozen=True)
class Found:
    """A quantity as it was found. Numbers are the claim's own, or on the scale that is theirs."""

    known: Known
    curves: Sequence[Curve]
    """What it comes from."""
    unit: str
    """The unit that it has from its curve, if it has."""
    log: bool
    """Whether they are on `scale`."""
    effect: Floats
    """What equal arms could make up in each number, on the same scale; NaN where that is not known."""
    neutral: float | None = None
    """The number that says that nothing differs, if there is one."""
    x: Sequence[float | None] = (None,)
    """Where on the axis each number is from."""
    arms: Sequence[str] = ("",)
    """With which arm each number compares, where these are several."""
    at_least: bool = False
    """Whether the quantity lies at or beyond the number: the axis ends too early to say more."""
    missing: str = ""
    """Why a part of the claim cannot be judged."""
    between: tuple[float, float] | None = None
    """The measured points that a number is interpolated between."""
    apart: bool = False
    """Whether arms of different launches are compared, each by its ratio to the reference if there is one."""
    instead: str = ""
    """Why the curve that the claim asks for first was not measured, so that another one stands in."""
    scale: Scale = POSITIVE
