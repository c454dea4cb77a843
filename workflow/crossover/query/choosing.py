"""The choice at one point of a question's axis: which arm, what it gives, and the most that it can cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crossover.design.protocol import known
from crossover.query import question
from crossover.records.outcome import OPEN, SETTLED, WINNER
from crossover.report.base import numbers
from crossover.report.sentences.choices import at_most

Row = dict[str, Any]


@dataclass(frozen=True)
class Chosen:
    """The choice at a measured point, or those at the two around it."""

    name: str
    """The short name of the curve, such as `ZeroMQ stream, tcp`."""
    x: float
    rows: Sequence[Row]
    """The row of record.CHOICES, or both."""

    @property
    def arms(self) -> list[str]:
        """The choice; two between points with different choices."""
        return list(dict.fromkeys(row["choice"] for row in self.rows))

    @property
    def guarantee(self) -> float | None:
        """The most by which the best arm can be better; None between two choices."""
        return max(row["guarantee"] for row in self.rows) if len(self.arms) == 1 else None

    @property
    def verdict(self) -> str:
        """The less certain verdict of the points; open between two choices."""
        verdicts = {row["verdict"] for row in self.rows}
        return OPEN if len(self.arms) > 1 else next(each for each in (OPEN, SETTLED, WINNER) if each in verdicts)

    @property
    def row(self) -> Row:
        """All facts, with values instead of words; the value and the next arm only at a measured point."""
        first = self.rows[0]
        names = ("experiment", "placement", "protocol", "metric", "axis", "axis_unit", "unit", "better")
        own = ("value", "low", "high", "next", "factor", "factor_low", "factor_high", "launches", "launches_needed")
        measured = len(self.rows) == 1
        return {
            **{name: first[name] for name in names},
            **known(first),
            "x": self.x,
            "choice": self.arms[0] if len(self.arms) == 1 else None,
            "verdict": self.verdict,
            "guarantee": self.guarantee,
            "left": sorted({arm for row in self.rows for arm in json.loads(row["left"])}),
            **{name: first[name] if measured else None for name in own},
            **{name: self.rows[-1][name] if len(self.arms) > 1 else None for name in ("begins", *ENDS)},
            "between": [] if measured else [row["x"] for row in self.rows],
        }

    @property
    def lines(self) -> list[str]:
        """The same in words, without the command that would settle an open point."""
        here = f"{numbers.quantity(self.x, self.rows[0]['axis_unit'])} ({self.name}, {self.rows[0]['metric']})"
        if len(self.arms) > 1:
            below, above = self.rows
            return [
                f"{here}: {question.quoted(below['choice'])} or {question.quoted(above['choice'])}; {self._boundary}",
                f"measured at {_point(below)} and at {_point(above)}",
            ]
        least = max(self.rows, key=lambda row: float(row["guarantee"]))
        told = f"{here}: choose {question.quoted(self.arms[0])}, {at_most(least['guarantee'], self.verdict)}"
        if len(self.rows) > 1:
            return [told, f"measured at {_point(self.rows[0])} and at {_point(self.rows[1])}", *self._left]
        return [told, f"measured here by {numbers.counted(least['launches'], 'launch')}: {_gives(least)}", *self._left]

    @property
    def _left(self) -> list[str]:
        if self.verdict != OPEN:
            return []
        left = sorted({arm for row in self.rows for arm in json.loads(row["left"])} - {*self.arms})
        return [f"open: {question.listed(left)} may be better"]

    @property
    def _boundary(self) -> str:
        row = self.rows[-1]
        if row["begins"] is None:
            ends = numbers.bracket(row["begins_low"], row["begins_high"], row["axis_unit"])
            return f"the second is better from somewhere in {ends} on"
        place = numbers.position(row["begins"], row["begins_low"], row["begins_high"], row["axis_unit"])
        return f"the second is better from {place} on"


ENDS = ("begins_low", "begins_high")


def _gives(row: Row) -> str:
    """The value of the choice, and its factor over the next arm."""
    unit = row["unit"]
    interval = numbers.interval(row["value"], row["low"], row["high"], unit)
    better, _ = numbers.comparatives(unit)
    factor = numbers.ratio(row["factor"], row["factor_low"], row["factor_high"])
    value = f"{numbers.quantity(row['value'], unit)} {interval}".rstrip()
    return f"{value}, {factor} times {better} than {question.quoted(row['next'])}"


def _point(row: Row) -> str:
    place = numbers.quantity(row["x"], row["axis_unit"])
    return f"{place} ({question.quoted(row['choice'])}, {at_most(row['guarantee'], row['verdict'])})"


def chosen(name: str, rows: Sequence[Row], x: float) -> Chosen | None:
    """The choice at `x`, from the rows of one question; None outside its measured axis."""
    cells = question.cells(rows, x)
    return Chosen(name, cells[0]["x"] if len(cells) == 1 else x, cells) if cells else None
