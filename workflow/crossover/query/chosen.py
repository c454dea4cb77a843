"""What to choose at one point of a curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from crossover.config.amount import UNIT_BYTES
from crossover.design import farms
from crossover.design.experiments import declared
from crossover.query import question
from crossover.records.outcome import KNOWN, OPEN, SAFER, SETTLED, WINNER
from crossover.records.rows import Choice
from crossover.report.text import numbers
from crossover.report.text.choices import Question, at_most, guaranteed


@dataclass(frozen=True)
class Chosen:
    """The choice of one curve at a point of its axis."""

    curve: Question
    x: float
    rows: tuple[Choice, ...]
    """The row at the point, those of the two points around it, or that of the last point before it."""

    @classmethod
    def at(cls, curve: Question, x: float) -> Chosen:
        """The choice of a curve at `x`; beyond its axis, that of the nearest end."""
        rows, places = curve.rows, [row.x for row in curve.rows]
        near = question.around(rows, places, rows[0].axis_unit, x)
        if not near:
            return cls(curve, x, (rows[0] if x < places[0] else rows[-1],))
        return cls(curve, near[0].x if len(near) == 1 else x, near)

    @property
    def extrapolated(self) -> bool:
        """Whether the point is outside the measured axis."""
        return len(self.rows) == 1 and self.rows[0].x != self.x

    @property
    def arms(self) -> list[str]:
        """The choice; between two points with different ones, an arm that costs little at both, otherwise both."""
        both = list(dict.fromkeys(row.choice for row in self.rows))
        near = min(self.costs, key=self.costs.__getitem__, default="")
        return [near] if len(both) > 1 and near and self.costs[near] <= KNOWN else both

    @property
    def costs(self) -> dict[str, float]:
        """By candidate, the most by which another can be better, at each of the points."""
        first, *others = (row.costs for row in self.rows)
        return {
            arm: max([cost, *(own[arm] for own in others)])
            for arm, cost in first.items()
            if all(arm in own for own in others)
        }

    @property
    def guarantee(self) -> float | None:
        """The most by which the best arm can be better; None between two choices, and outside the axis."""
        if self.extrapolated or len(self.arms) > 1:
            return None
        return self.costs.get(self.arms[0]) or max(row.guarantee for row in self.rows)

    @property
    def verdict(self) -> str:
        """The less certain verdict of the points; open between two choices, and outside the axis."""
        if self.guarantee is None:
            return OPEN
        if any(row.choice != self.arms[0] for row in self.rows):
            return SETTLED
        verdicts = {row.verdict for row in self.rows}
        return next(each for each in (OPEN, SETTLED, WINNER) if each in verdicts)

    @property
    def equals(self) -> list[str]:
        """The other arms that cost little too, and that may be the best: nothing tells them from the choice."""
        if self.verdict != SETTLED:
            return []
        return [arm for arm in self._left if self.costs.get(arm, KNOWN + 1) <= KNOWN]

    @property
    def left(self) -> list[str]:
        """The arms that may be better where the choice is open; none between two choices."""
        return self._left if self.verdict == OPEN and self.guarantee is not None else []

    @property
    def _left(self) -> list[str]:
        return sorted({arm for row in self.rows for arm in row.left} - {*self.arms})

    @property
    def row(self) -> dict[str, Any]:
        """All facts, with values instead of words; the value and the next arm only at a measured point."""
        first = self.rows[0]
        names = ("experiment", "placement", "protocol", "metric", "axis", "axis_unit", "unit", "better")
        own = ("value", "low", "high", "next", "factor", "factor_low", "factor_high", "launches", "launches_needed")
        begin = ("begins", "begins_low", "begins_high")
        measured = len(self.rows) == 1 and not self.extrapolated
        return {
            **{name: getattr(first, name) for name in names},
            **first.keys,
            "x": self.x,
            "choice": self.arms[0] if len(self.arms) == 1 else None,
            "verdict": self.verdict,
            "guarantee": self.guarantee,
            "left": sorted({arm for row in self.rows for arm in row.left}),
            **{name: getattr(first, name) if measured else None for name in own},
            **{name: getattr(self.rows[-1], name) if len(self.arms) > 1 else None for name in begin},
            "between": [row.x for row in self.rows] if len(self.rows) > 1 else [],
            "extrapolated": self.extrapolated,
        }

    @property
    def head(self) -> str:
        """The choice and its guarantee, in one line."""
        said = f"{self.curve.name}, at {point(self.x, self.rows[0].axis_unit)}: {self._words}"
        if self.extrapolated:
            return f"{said}, extrapolated from {numbers.quantity(self.rows[0].x, self.rows[0].axis_unit)}"
        if self.guarantee is None:
            return said
        cost = max(self.costs.get(arm, math.inf) for arm in (*self.arms, *self._equal))
        return f"{said}, {guaranteed(cost, WINNER if self.verdict == WINNER else SETTLED)}"

    @property
    def _words(self) -> str:
        if len(self.arms) > 1:
            later = "safer" if self.rows[-1].change == SAFER else "better"
            return f"{self.arms[0]} or {self.arms[1]}, which is {later} from {self._boundary} on"
        return " or ".join(["either " * bool(self._equal) + self.arms[0], *self._equal])

    @property
    def _equal(self) -> list[str]:
        """The one other arm that nothing tells from the choice; none if there are several."""
        return self.equals if len(self.equals) == 1 else []

    @property
    def _boundary(self) -> str:
        """The place between two points from which the second choice is better."""
        row = self.rows[-1]
        if row.begins is None:
            ends = row.begins_low or self.rows[0].x, row.begins_high or row.x
            return f"somewhere {numbers.between(*ends, row.axis_unit)}"
        return numbers.position(row.begins, row.begins_low, row.begins_high, row.axis_unit)

    def cost_of(self, arm: str) -> str:
        """The most that an arm can cost, in words; empty without a bound, and outside the axis."""
        return f"{arm}: {at_most(self.costs[arm], SETTLED)}" if arm in self.costs and not self.extrapolated else ""

    @property
    def support(self) -> str:
        """The measurement behind it: the value of the choice, or the choices at the points around."""
        row = self.rows[0]
        if self.extrapolated:
            return f"the measured axis ends at {_chosen_at(row)}"
        if len(self.rows) > 1:
            return f"measured at {_chosen_at(row)} and at {_chosen_at(self.rows[1])}"
        better, _ = numbers.comparatives(row.unit)
        value = f"{numbers.quantity(row.value, row.unit)} {numbers.interval(row.value, row.low, row.high, row.unit)}"
        than = f"{numbers.significant(row.factor)} times {better} than {row.next}"
        return f"{value.rstrip()}, {than}; {numbers.counted(row.launches, 'launch')}"

    @property
    def paste(self) -> list[str]:
        """The lines that use the choice, if its farm or experiment has some; none where another may be better."""
        known = declared().get(self.rows[0].experiment)
        own = known.snippets.get(self.arms[0], "") if known else ""
        text = own or farms.snippet(self.arms[0])
        return [] if self.verdict == OPEN else text.strip("\n").splitlines()


def _chosen_at(row: Choice) -> str:
    return f"{numbers.quantity(row.x, row.axis_unit)} ({row.choice}, {guaranteed(row.guarantee, row.verdict)})"


def point(x: float, unit: str) -> str:
    """A point of an axis in words; the length of an array also by its bytes.

    >>> point(1000, "elements"), point(1000, "bytes")
    ('1,000 elements (8 kB)', '1 kB')
    """
    here = numbers.quantity(x, unit)
    weight = UNIT_BYTES.get(unit, 0)
    return f"{here} ({numbers.quantity(x * weight, 'bytes')})" if weight > 1 else here
