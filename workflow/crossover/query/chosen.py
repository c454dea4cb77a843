"""What to choose at one point: in one curve, and in all curves with the same choice."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from crossover.config.amount import UNIT_BYTES
from crossover.design import farms
from crossover.design.experiments import declared
from crossover.query import question
from crossover.records.outcome import KNOWN, OPEN, SETTLED, WINNER
from crossover.records.rows import Choice
from crossover.report.text import choices, numbers
from crossover.report.text.choices import Question, at_most, guaranteed
from crossover.report.text.tables import panel_names


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
    def boundary(self) -> str:
        """The place between two points from which the second choice is better."""
        row = self.rows[-1]
        if row.begins is None:
            return f"somewhere {numbers.between(*self.boundary_ends, row.axis_unit)}"
        return numbers.position(row.begins, row.begins_low, row.begins_high, row.axis_unit)

    @property
    def boundary_ends(self) -> tuple[float, float]:
        """The part of the axis in which that place lies."""
        row = self.rows[-1]
        return row.begins_low or row.begins or self.rows[0].x, row.begins_high or row.begins or row.x

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


@dataclass(frozen=True)
class Group:
    """Curves of one question with the same choice at a point, the usual curve first."""

    chosen: tuple[Chosen, ...]
    name: str
    """The name of these curves."""
    total: int
    """How many curves the question has."""

    @property
    def head(self) -> str:
        """The choice and its guarantee in all these curves, in one line."""
        first = self.chosen[0]
        everywhere = ""
        if 1 < self.total == len(self.chosen):
            everywhere = " in both curves" if self.total == 2 else f" in all {self.total} curves"
            everywhere = f",{everywhere}" if len(first.arms) > 1 else everywhere
        said = f"{self.name}, at {point(first.x, first.rows[0].axis_unit)}: {self._words}{everywhere}"
        if first.extrapolated:
            return f"{said}, extrapolated from {numbers.quantity(first.rows[0].x, first.rows[0].axis_unit)}"
        if any(one.guarantee is None for one in self.chosen):
            return said
        verdict = WINNER if all(one.verdict == WINNER for one in self.chosen) else SETTLED
        return f"{said}, {guaranteed(max(map(self._cost, (*first.arms, *self._equal))), verdict)}"

    @property
    def _words(self) -> str:
        arms = self.chosen[0].arms
        if len(arms) > 1:
            return f"{arms[0]} or {arms[1]}, which is better from {self._boundary} on"
        return " or ".join(["either " * bool(self._equal) + arms[0], *self._equal])

    @property
    def _equal(self) -> list[str]:
        """The one other arm that nothing tells from the choice in any of these curves; none if there are several."""
        shared = [arm for arm in self.chosen[0].equals if all(arm in one.equals for one in self.chosen)]
        return shared if len(shared) == 1 else []

    @property
    def _boundary(self) -> str:
        first, *others = {one.boundary: one.boundary_ends for one in self.chosen}
        if not others:
            return first
        low, high = zip(*(one.boundary_ends for one in self.chosen), strict=True)
        return f"somewhere {numbers.between(min(low), max(high), self.chosen[0].rows[0].axis_unit)}"

    def _cost(self, arm: str) -> float:
        """The most that an arm can cost in any of these curves; infinite where a curve has no bound."""
        return max(one.costs.get(arm, math.inf) for one in self.chosen)

    def cost_of(self, arm: str) -> str:
        """The same in words; empty without a bound, and outside the axis."""
        cost = self._cost(arm)
        known = cost < math.inf and not any(one.extrapolated for one in self.chosen)
        return f"{arm}: {at_most(cost, SETTLED)}" if known else ""

    @property
    def left(self) -> list[str]:
        """The arms that may be better in one of these curves."""
        return sorted({arm for one in self.chosen for arm in one.left})

    @property
    def usual(self) -> str:
        """The measurement in the usual curve, with that curve's name if there are others."""
        first = self.chosen[0]
        name = f"{first.curve.name}: " if len(self.chosen) > 1 else ""
        return f"{name}{first.support}"


def groups(some: Sequence[Question], x: Sequence[float], every: Sequence[Question]) -> Iterator[Group]:
    """Some of every curve by their choice; `x` has the point of each."""
    names, total = panel_names(curve.panel for curve in every), choices.totals(every)
    alike: dict[tuple[str, ...], list[Chosen]] = {}
    for curve, place in zip(some, x, strict=True):
        one = Chosen.at(curve, place)
        own = (curve.panel.experiment, curve.panel.metric, str(one.extrapolated), *one.arms)
        alike.setdefault(own, []).append(one)
    # The curves of a question stay together, in the order of the first of each.
    turns = list(dict.fromkeys(own[:2] for own in alike))
    for own in sorted(alike, key=lambda own: turns.index(own[:2])):
        count = total[own[0], own[1]]
        yield Group(tuple(alike[own]), choices.group_name([one.curve for one in alike[own]], names, count), count)


def point(x: float, unit: str) -> str:
    """A point of an axis in words; the length of an array also by its bytes.

    >>> point(1000, "elements"), point(1000, "bytes")
    ('1,000 elements (8 kB)', '1 kB')
    """
    here = numbers.quantity(x, unit)
    weight = UNIT_BYTES.get(unit, 0)
    return f"{here} ({numbers.quantity(x * weight, 'bytes')})" if weight > 1 else here
