"""The value of one arm at a point of a curve, and its cost against the best."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crossover.design.protocol import known
from crossover.errors import CrossoverError
from crossover.query import question
from crossover.records.outcome import SETTLED
from crossover.report.base import numbers
from crossover.report.base.tables import Panel
from crossover.report.sentences.choices import at_most

Row = dict[str, Any]


@dataclass(frozen=True)
class Value:
    """The value of one arm at a measured point, or its values at the two around it."""

    name: str
    """The short name of the curve."""
    x: float
    cells: Sequence[Row]
    """The row of the summary, or both."""
    costs: Sequence[float]
    """The most by which another candidate can be better at these points; empty where users do not choose this arm."""

    @property
    def row(self) -> Row:
        """All facts; the value only at a measured point."""
        first = self.cells[0]
        names = ("experiment", "placement", "protocol", "metric", "axis", "axis_unit", "unit", "arm")
        values = {name: first[name] if len(self.cells) == 1 else None for name in ("median", "low", "high")}
        facts = {name: first[name] for name in names} | known(first) | {"x": self.x}
        return facts | values | {"cost": max(self.costs, default=None)}

    @property
    def lines(self) -> list[str]:
        """The same in words."""
        first = self.cells[0]
        here = numbers.quantity(self.x, first["axis_unit"])
        values = " and ".join(map(self._value, self.cells))
        told = f"{question.quoted(first['arm'])} at {here} ({self.name}): {first['metric']} {values}"
        return [told, *(f"{at_most(cost, SETTLED)} candidate" for cost in [max(self.costs, default=None)] if cost)]

    def _value(self, row: Row) -> str:
        unit = row["unit"]
        interval = numbers.interval(row["median"], row["low"], row["high"], unit)
        value = f"{numbers.quantity(row['median'], unit)} {interval}"
        place = f" at the measured {numbers.quantity(row['x'], row['axis_unit'])}" if len(self.cells) > 1 else ""
        return f"{value.rstrip()}{place}"


def value(panel: Panel, arm: str, name: str, x: float, choices: Sequence[Row]) -> Value:
    """The value of an arm of a panel at `x`; `choices` are the rows of the panel's question.

    Raises CrossoverError for an unknown arm, and for a point outside its measured axis.
    """
    question.arm_of(panel.experiment, arm, panel.arms)
    measured = [row for row in panel.summary if row["arm"] == arm and row["median"] is not None]
    cells = question.cells(measured, x)
    if not cells:
        ends = [numbers.quantity(row["x"], row["axis_unit"]) for row in (*measured[:1], *measured[-1:])]
        raise CrossoverError(
            f"{numbers.quantity(x, panel.facts['axis_unit'])} is outside the measured axis of {question.quoted(arm)}: "
            f"{' to '.join(ends) or 'it has no value'}"
        )
    places = {row["x"] for row in cells}
    costs = [json.loads(row["candidates"]).get(arm) for row in choices if row["x"] in places]
    return Value(name, cells[0]["x"] if len(cells) == 1 else x, cells, [cost for cost in costs if cost is not None])
