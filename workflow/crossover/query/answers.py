"""Answers at one point of a curve, in numbers and words: ratios of arms, the value of one; and recommended settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from crossover.design.protocol import KEYS
from crossover.errors import CrossoverError
from crossover.query import question
from crossover.records.outcome import ALIKE, BETTER, OPEN, SETTLED, WORSE, Outcome
from crossover.records.rows import Choice, Pair, Ratio, Recommendation, Summary
from crossover.report.text import numbers, recommendations
from crossover.report.text.choices import at_most
from crossover.report.text.tables import Panel

Facts = dict[str, Any]
"""The columns of an answer, as JSON and data frames have them."""

NOT_MEASURED = "not measured"

Cell = TypeVar("Cell", Ratio, Summary)


@dataclass(frozen=True)
class Answer:
    """The answer of one arm at one point of the axis."""

    panel: Panel
    arm: str
    name: str
    """The short name of the question, such as `ZeroMQ stream, tcp`."""
    x: float
    cells: tuple[Ratio, ...]
    """The measured cell at the point, or those on both sides of it; empty outside the arm's measured axis."""
    origin: str
    """The reference of the launches: an arm of the ratio, or a third one. Possible bias is that of its null arm."""

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the arm's measured axis."""
        places = [cell.x for cell in self.panel.ratios_of(self.arm)]
        return places[0], places[-1]

    @property
    def outcome(self) -> Outcome | None:
        """The outcome there; None outside the measured axis.

        Between two measured points, ratio and interval are interpolated on the logarithmic axis. The verdict is the one
        of both: a step can lie between them.
        """
        if len(self.cells) < 2:
            return Outcome.of(self.cells[0]) if self.cells else None
        below, above = map(Outcome.of, self.cells)
        start, end = (cell.x for cell in self.cells)
        far = math.log(self.x / start) / math.log(end / start)

        def between(first: float, second: float) -> float:
            return math.exp((1 - far) * math.log(first) + far * math.log(second))

        low = between(below.low, above.low) if below.low and above.low else None
        high = between(below.high, above.high) if below.high and above.high else None
        verdict = below.verdict if below.verdict == above.verdict else OPEN
        launches = min(below.launches, above.launches)
        return Outcome(verdict, between(below.ratio, above.ratio), low, high, below.bias, launches)

    @property
    def verdict(self) -> str:
        """The conclusion, such as `no-copy is faster`."""
        if self.cells and (self.cells[0].is_null_arm or self.cells[0].ceiling):
            return "a null arm, not a rival" if self.cells[0].is_null_arm else "a ceiling, not a rival"
        return NOT_MEASURED if self.outcome is None else self._words(self.outcome)

    def _words(self, found: Outcome) -> str:
        better, worse = numbers.comparatives(self.panel.unit)
        words = {BETTER: f"{self.arm} is {better}", WORSE: f"{self.arm} is {worse}"}
        within = f" within {numbers.significant(found.most)} times" if found.verdict == ALIKE else ""
        return words.get(found.verdict, f"{found.verdict}{within}")

    @property
    def row(self) -> Facts:
        """All facts of the answer, as a row of a table."""
        facts, found = self.panel.facts, self.outcome
        names = ("experiment", "placement", "protocol", "metric", "axis", "axis_unit", "better")
        sides = dict(zip(("below", "above"), self.cells if len(self.cells) > 1 else (), strict=False))
        return {
            **{name: getattr(facts, name) for name in names},
            "unit": self.panel.unit,
            "arm": self.arm,
            "reference": self.panel.reference,
            **facts.keys,
            "x": self.x,
            **{name: getattr(found, name, None) for name in ("ratio", "low", "high", "launches")},
            "smallest_effect": getattr(found, "bias", None),
            "bias_of": self.origin,
            "verdict": getattr(found, "verdict", NOT_MEASURED),
            "says": self.verdict,
            "interpolated": bool(sides),
            **{
                # A null arm has no verdict: a missing text is null in JSON.
                f"{side}_{name}": (getattr(sides[side], name) or None) if side in sides else None
                for side in ("below", "above")
                for name in ("x", "ratio", "low", "high", "verdict")
            },
            "launches_needed": self.cells[0].launches_needed if len(self.cells) == 1 else None,
        }

    @property
    def lines(self) -> list[str]:
        """The answer in words: the ratio with its verdict, and its place among the measured points."""
        unit, found = self.panel.facts.axis_unit, self.outcome
        head = f"{self.arm} / {self.panel.reference} at {numbers.quantity(self.x, unit)} ({self.name}): "
        if found is None:
            low, high = (numbers.quantity(end, unit) for end in self.ends)
            return [f"{head}{NOT_MEASURED}; the axis of this arm is {low} to {high}"]
        ratio = numbers.ratio(found.ratio, found.low, found.high)
        if not found.launches:
            # Chance of the two ratios is not independent, so their intervals give none of the quotient.
            kind = f"the quotient of the two ratios to {self.origin}, without interval"
            fault = "no launch in the tables has both arms"
            return [f"{head}{self.panel.metric} {ratio} times, {kind}: {fault}", self._place(found)]
        bias = "" if found.bias in (None, 1) else f", possible bias {numbers.percent(found.bias - 1)}{self._whose}"
        return [f"{head}{self.panel.metric} {ratio} times{bias}: {self.verdict}", self._place(found)]

    @property
    def _whose(self) -> str:
        return "" if self.origin in self._arms else f" (that of the null arm of {self.origin})"

    def _place(self, found: Outcome) -> str:
        if len(self.cells) == 1:
            here = "measured at this point"
            here += f", by {numbers.counted(found.launches, 'launch')}" if found.launches else ""
            return ": ".join(filter(None, [here, self._values]))
        below, above = map(self._point, self.cells)
        return f"between the measured {below} and {above}; interpolated on the logarithmic axis"

    @property
    def _values(self) -> str:
        """The values of the reference and of the arm at a measured point, with intervals; empty if one is unknown."""
        here = {row.arm: row for row in self.panel.values if row.x == self.cells[0].x}
        arms, unit = [name for name in self._arms if name in here], self.panel.unit
        known = [f"{question.quoted(name)} {_median(here[name], unit)}" for name in arms]
        return ", ".join(known) if len(known) == len(self._arms) else ""

    @property
    def _arms(self) -> tuple[str, str]:
        return self.panel.reference, self.arm

    def _point(self, cell: Ratio) -> str:
        place = numbers.quantity(cell.x, cell.axis_unit)
        ratio = numbers.ratio(cell.ratio, cell.low, cell.high)
        return f"{place} ({ratio}, {self._words(Outcome.of(cell))})"


@dataclass(frozen=True)
class Value:
    """The value of one arm at a measured point, or its values at the two around it."""

    name: str
    """The short name of the curve."""
    x: float
    cells: Sequence[Summary]
    """The row of the summary, or both."""
    costs: Sequence[float]
    """The most by which another candidate can be better at these points; empty where users do not choose this arm."""

    @property
    def row(self) -> Facts:
        """All facts; the value only at a measured point."""
        first = self.cells[0]
        names = ("experiment", "placement", "protocol", "metric", "axis", "axis_unit", "unit", "arm")
        values = {name: getattr(first, name) if len(self.cells) == 1 else None for name in ("median", "low", "high")}
        facts = {name: getattr(first, name) for name in names} | {**first.keys, "x": self.x}
        return facts | values | {"cost": max(self.costs, default=None)}

    @property
    def lines(self) -> list[str]:
        """The same in words."""
        first = self.cells[0]
        here = numbers.quantity(self.x, first.axis_unit)
        values = " and ".join(map(self._value, self.cells))
        told = f"{question.quoted(first.arm)} at {here} ({self.name}): {first.metric} {values}"
        return [told, *(f"{at_most(cost, SETTLED)} candidate" for cost in [max(self.costs, default=None)] if cost)]

    def _value(self, row: Summary) -> str:
        place = f" at the measured {numbers.quantity(row.x, row.axis_unit)}" if len(self.cells) > 1 else ""
        return f"{_median(row, row.unit)}{place}"


def answer(panel: Panel, arm: str, name: str, x: float, origin: str = "") -> Answer:
    """The answer of an arm at `x`, from its rows in the table of ratios; `name` is that of its panel, and `origin` the
    reference of the launches if that of the panel is another arm."""
    cells = _around(panel.ratios_of(arm), x)
    return Answer(panel, arm, name, cells[0].x if len(cells) == 1 else x, cells, origin or panel.reference)


def value(panel: Panel, arm: str, name: str, x: float, choices: Sequence[Choice]) -> Value:
    """The value of an arm of a panel at `x`; `choices` are those of the panel's question.

    Raises CrossoverError for an unknown arm, and for a point outside its measured axis.
    """
    question.one_of("arm", arm, panel.arms)
    measured = [row for row in panel.summary if row.arm == arm]
    cells = _around(measured, x)
    if not cells:
        ends = [numbers.quantity(row.x, row.axis_unit) for row in (*measured[:1], *measured[-1:])]
        raise CrossoverError(
            f"{numbers.quantity(x, panel.facts.axis_unit)} is outside the measured axis of {question.quoted(arm)}: "
            f"{' to '.join(ends) or 'it has no value'}"
        )
    places = {row.x for row in cells}
    costs = [row.costs.get(arm) for row in choices if row.x in places]
    return Value(name, cells[0].x if len(cells) == 1 else x, cells, [cost for cost in costs if cost is not None])


def arms_to_compare(panel: Panel, arm: str | None, than: str | None) -> tuple[str, list[str]]:
    """The arm `than`, by default the reference, and the arms to compare with it: `arm`, or all others that compete.

    Raises CrossoverError for an arm that the panel lacks, that has no ratio, or that is both.
    """
    other = question.one_of("arm", than, panel.arms) if than else panel.reference
    every = [each for each in (panel.reference, *panel.compared) if each not in ("", other)]
    arms = every if arm is None else [question.one_of("arm", arm, panel.arms)]
    measured = {panel.reference, *(row.arm for row in panel.ratios)} - {""}
    left = f"choose another arm: {question.listed(sorted(measured - {other})) or 'none is measured'}"
    if arm == other:
        both = f"--arm and --than are both {question.quoted(other)}"
        raise CrossoverError(f"{both if than else f'{other} is the reference of all ratios'}; {left}")
    if without := [each for each in (other, *arms) if each not in measured]:
        raise CrossoverError(f"{question.quoted(without[0])} has no ratio; {left}")
    if not arms:
        raise CrossoverError(f"no rival has a ratio; {left}")
    return other, arms


def _around(rows: Sequence[Cell], x: float) -> tuple[Cell, ...]:
    return question.around(rows, [row.x for row in rows], rows[0].axis_unit, x) if rows else ()


def facts(row: Recommendation | Choice | Pair) -> Facts:
    """The columns of a row, a missing text None."""
    columns = {name: None if value == "" else value for name, value in vars(row).items() if name != "keys"}
    costs = {"candidates": row.costs} if isinstance(row, Choice) else {}
    return columns | costs | dict.fromkeys(KEYS) | {**row.keys}


def recommendation_lines(row: Recommendation, place: str) -> list[str]:
    """A row of the recommendations in words, for the question `place`, then its arm and the lines to paste, if any."""
    if not row.recommended:
        return [f"{row.setting}, for {place}: no recommendation: {recommendations.why_none(row)}"]
    said = f"{recommendations.value(row)}, for {place}: {recommendations.worth([row])}"
    return [said, f"arm {question.quoted(row.arm)}, to paste:", "", *row.snippet.strip("\n").splitlines(), ""]


def _with_interval(value: float, low: float | None, high: float | None, unit: str) -> str:
    return f"{numbers.quantity(value, unit)} {numbers.interval(value, low, high, unit)}".rstrip()


def _median(row: Summary, unit: str) -> str:
    return _with_interval(row.median, row.low, row.high, unit)
