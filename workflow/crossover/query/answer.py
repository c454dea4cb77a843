"""The answer at one point of a curve, in numbers and words: the ratio there, measured or interpolated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from crossover.design.protocol import known
from crossover.query import question
from crossover.records.outcome import ALIKE, BETTER, OPEN, WORSE, Outcome
from crossover.report.text import numbers
from crossover.report.text.tables import Panel

Row = dict[str, Any]

NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Answer:
    """The answer of one arm at one point of the axis."""

    panel: Panel
    arm: str
    name: str
    """The short name of the question, such as `ZeroMQ stream, tcp`."""
    x: float
    cells: tuple[Row, ...]
    """The measured cell at the point, or those on both sides of it; empty outside the arm's measured axis."""
    origin: str
    """The reference of the launches: an arm of the ratio, or a third one. Possible bias is that of its null arm."""

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the arm's measured axis."""
        places = [cell["x"] for cell in self.panel.ratios_of(self.arm)]
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
        start, end = (cell["x"] for cell in self.cells)
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
        if self.cells and (self.cells[0]["null"] or self.cells[0]["ceiling"]):
            return "a null arm, not a rival" if self.cells[0]["null"] else "a ceiling, not a rival"
        return NOT_MEASURED if self.outcome is None else self._words(self.outcome)

    def _words(self, found: Outcome) -> str:
        better, worse = numbers.comparatives(self.panel.unit)
        words = {BETTER: f"{self.arm} is {better}", WORSE: f"{self.arm} is {worse}"}
        within = f" within {numbers.significant(found.most)} times" if found.verdict == ALIKE else ""
        return words.get(found.verdict, f"{found.verdict}{within}")

    @property
    def row(self) -> Row:
        """All facts of the answer, as a row of a table."""
        facts, found = self.panel.facts, self.outcome
        names = ("experiment", "placement", "protocol", "metric", "axis", "axis_unit", "better")
        sides = dict(zip(("below", "above"), self.cells if len(self.cells) > 1 else (), strict=False))
        return {
            **{name: facts[name] for name in names},
            "unit": self.panel.unit,
            "arm": self.arm,
            "reference": self.panel.reference,
            **known(facts),
            "x": self.x,
            **{name: getattr(found, name, None) for name in ("ratio", "low", "high", "launches")},
            "smallest_effect": getattr(found, "bias", None),
            "bias_of": self.origin,
            "verdict": getattr(found, "verdict", NOT_MEASURED),
            "says": self.verdict,
            "interpolated": bool(sides),
            **{
                f"{side}_{name}": sides[side][name] if side in sides else None
                for side in ("below", "above")
                for name in ("x", "ratio", "low", "high", "verdict")
            },
            "launches_needed": self.cells[0]["launches_needed"] if len(self.cells) == 1 else None,
        }

    @property
    def lines(self) -> list[str]:
        """The answer in words: the ratio with its verdict, and its place among the measured points."""
        unit, found = self.panel.facts["axis_unit"], self.outcome
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
        here = {row["arm"]: row for row in self.panel.values if row["x"] == self.cells[0]["x"]}
        known = [f"{question.quoted(name)} {self._value(here[name])}" for name in self._arms if name in here]
        return ", ".join(known) if len(known) == len(self._arms) else ""

    def _value(self, row: Row) -> str:
        value, unit = row["median"], self.panel.unit
        return f"{numbers.quantity(value, unit)} {numbers.interval(value, row['low'], row['high'], unit)}".rstrip()

    @property
    def _arms(self) -> tuple[str, str]:
        return self.panel.reference, self.arm

    def _point(self, cell: Row) -> str:
        place = numbers.quantity(cell["x"], cell["axis_unit"])
        ratio = numbers.ratio(cell["ratio"], cell["low"], cell["high"])
        return f"{place} ({ratio}, {self._words(Outcome.of(cell))})"


def answer(panel: Panel, arm: str, name: str, x: float, origin: str = "") -> Answer:
    """The answer of an arm at `x`, from its rows in the table of ratios; `name` is that of its panel, and `origin` the
    reference of the launches if that of the panel is another arm."""
    cells = question.cells(panel.ratios_of(arm), x)
    return Answer(panel, arm, name, cells[0]["x"] if len(cells) == 1 else x, cells, origin or panel.reference)
