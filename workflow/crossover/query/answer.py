"""The answer at one point of a curve, in numbers and words: the ratio there, measured or interpolated."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtrit

from crossover.analyse.curves.curve import Curve
from crossover.analyse.statistics.intervals import Estimate, Floats, between, estimate
from crossover.records.protocol import known
from crossover.records.record import CONFIDENCE
from crossover.report.base import numbers

Row = dict[str, Any]

NO_DIFFERENCE = "no difference seen"
NOT_REPLICATED = "not replicated"
NOT_MEASURED = "not measured"

MOST = 4
"""An answer names the launches that would decide it up to this multiple of those that there are."""


@dataclass(frozen=True)
class Point:
    """The ratio of an arm to the reference at one point of the axis; the interval is None without replication."""

    x: float
    ratio: float
    low: float | None
    high: float | None
    launches: int

    @property
    def side(self) -> int:
        """1 or -1 if the interval is above or below 1, otherwise 0."""
        if self.low is None or self.high is None:
            return 0
        return int(self.low > 1) - int(self.high < 1)

    def words(self, unit: str) -> str:
        """The point and its ratio."""
        return f"{numbers.quantity(self.x, unit)} ({numbers.ratio(self.ratio, self.low, self.high)})"


@dataclass(frozen=True)
class Answer:
    """The answer of one arm at one point of the axis."""

    facts: Row
    """The facts of the curve, as in the tables."""
    name: str
    """The short name of the question, such as `ZeroMQ stream, tcp`."""
    point: Point | None
    """The ratio there; None outside the arm's measured axis."""
    x: float
    ends: tuple[float, float]
    """The ends of the arm's measured axis."""
    neighbours: tuple[Point, ...] = ()
    """The measured points on both sides, if the point itself was not measured."""
    needed: int | None = None
    """The launches that would decide an undecided point if the ratio stayed the same; None for more than MOST times
    those that there are, and for a point that is decided or not replicated."""

    @property
    def common(self) -> int:
        """The side of both neighbours, 0 if they differ or one is undecided."""
        sides = {point.side for point in self.neighbours}
        return sides.pop() if len(sides) == 1 else 0

    @property
    def side(self) -> int:
        """The side on which the arm is: by its interval, otherwise that of both neighbours.

        Between two points with the same winner, the launches' scatter between cells can make the interval of the
        interpolated point contain 1. That is no evidence against the winner on both sides.
        """
        return (self.point.side if self.point else 0) or self.common

    @property
    def verdict(self) -> str:
        """The conclusion, such as `no-copy is faster`."""
        if self.point is None:
            return NOT_MEASURED
        if self.side:
            better, worse = numbers.comparatives(self.facts["unit"])
            is_better = (self.side > 0) == (self.facts["better"] == "higher")
            return f"{self.facts['arm']} is {better if is_better else worse}"
        return NO_DIFFERENCE if self.point.low is not None else NOT_REPLICATED

    @property
    def is_open(self) -> bool:
        """Whether the point was measured or interpolated, and no arm is shown to be better there."""
        return self.point is not None and not self.side

    @property
    def row(self) -> Row:
        """All facts of the answer, as a row of a table."""
        names = ("experiment", "placement", "protocol", "metric", "unit", "better", "arm", "reference", "axis")
        point, sides = self.point, dict(zip(("below", "above"), self.neighbours, strict=False))
        return {
            **{name: self.facts[name] for name in (*names, "axis_unit")},
            **known(self.facts),
            "x": self.x,
            **{name: getattr(point, name, None) for name in ("ratio", "low", "high", "launches")},
            "verdict": self.verdict,
            "interpolated": bool(self.neighbours),
            **{
                f"{side}_{name}": getattr(sides.get(side), name, None)
                for side in ("below", "above")
                for name in ("x", "ratio", "low", "high")
            },
            "launches_needed": self.needed,
        }

    @property
    def lines(self) -> list[str]:
        """The answer in words: the ratio with its verdict, and its place among the measured points."""
        facts, unit = self.facts, self.facts["axis_unit"]
        head = f"{facts['arm']} / {facts['reference']} at {numbers.quantity(self.x, unit)} ({self.name}): "
        if self.point is None:
            low, high = (numbers.quantity(end, unit) for end in self.ends)
            return [f"{head}{NOT_MEASURED}; the axis of this arm is {low} to {high}"]
        ratio = numbers.ratio(self.point.ratio, self.point.low, self.point.high)
        return [f"{head}{facts['metric']} {ratio} times, {self.verdict}", self._place()]

    def _place(self) -> str:
        if not self.neighbours:
            assert self.point
            return f"measured at this point, by {numbers.counted(self.point.launches, 'launch')}"
        below, above = (point.words(self.facts["axis_unit"]) for point in self.neighbours)
        both = f"; {self.verdict} at both" if self.point and self.common and not self.point.side else ""
        return f"between the measured {below} and {above}{both}; interpolated on the logarithmic axis"


def answer(curve: Curve, name: str, x: float) -> Answer:
    """The answer of a curve at `x`, by the estimates behind the table of ratios; `name` is that of its panel."""
    measured = ~np.isnan(curve.ratios).all(axis=0)
    places, d = curve.x[measured], curve.ratios[:, measured]
    ends = float(places[0]), float(places[-1])
    cells, counts = estimate(d), (~np.isnan(d)).sum(axis=0)
    points = [_point(place, cells, cell, counts[cell]) for cell, place in enumerate(places.tolist())]
    here = _cell(places, x, curve.facts["axis_unit"])
    if here is not None:
        needed = _needed(cells, here, points[here])
        return Answer(curve.facts, name, points[here], points[here].x, ends, needed=needed)
    if not ends[0] < x < ends[1]:
        return Answer(curve.facts, name, None, x, ends)
    left = int(np.searchsorted(places, x)) - 1
    far = math.log(x / places[left]) / math.log(places[left + 1] / places[left])
    # The same weighted mean that locates crossovers between two cells.
    found = between(d, cells.mean, left, np.array([far]))
    both = int((~np.isnan(d[:, left : left + 2])).all(axis=1).sum())
    point = _point(x, found, 0, both)
    whole = Answer(curve.facts, name, point, x, ends, (points[left], points[left + 1]))
    return whole if whole.side else replace(whole, needed=_needed(found, 0, point))


def _point(x: float, found: Estimate, index: int, launches: int) -> Point:
    low, high = (float(np.exp(end[index])) for end in (found.low, found.high))
    known_ends = not math.isnan(low)
    ratio = float(np.exp(found.mean[index]))
    return Point(x, ratio, low if known_ends else None, high if known_ends else None, int(launches))


def _cell(places: Floats, x: float, unit: str) -> int | None:
    """The measured cell at `x`, or at a point that is printed like it; None without one.

    Points of an axis are often crooked: 31623 B is printed as 31.6 kB, and asked for as 31.6kB.
    """
    near = int(np.argmin(np.abs(np.log(places / x))))
    place = float(places[near])
    return near if place == x or numbers.quantity(place, unit) == numbers.quantity(x, unit) else None


def _needed(found: Estimate, index: int, point: Point) -> int | None:
    """The fewest launches whose interval would exclude 1 if the ratio and the variance stayed the same."""
    now = point.launches
    if point.side or point.low is None:
        return None
    mean, error, df = (float(part[index]) for part in (found.mean, found.error, found.df))
    more = np.arange(now + 1, MOST * now + 1)
    margins = stdtrit(df * (more - 1) / (now - 1), (1 + CONFIDENCE) / 2) * error * np.sqrt(now / more)
    enough = more[margins < abs(mean)]
    return int(enough[0]) if enough.size else None
