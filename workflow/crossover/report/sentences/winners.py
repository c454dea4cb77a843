"""The outcome of each pair of arms along its axis, in a few words."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from crossover.records.outcome import ALIKE, OPEN, Outcome
from crossover.report.base import numbers
from crossover.report.base.tables import Panel, Row


@dataclass(frozen=True)
class Pair:
    """An arm and the reference of a panel, with the cells of their ratio."""

    panel: Panel
    arm: str

    @property
    def cells(self) -> list[Row]:
        """The ratios along the axis."""
        return self.panel.ratios_of(self.arm)

    @property
    def verdict(self) -> str:
        """The verdict on the crossover."""
        row = self.panel.crossover_of(self.arm)
        return str(row["verdict"]) if row else OPEN

    @property
    def is_replicated(self) -> bool:
        """Whether two launches measured a point."""
        return any(cell["launches"] > 1 for cell in self.cells)

    @property
    def strength(self) -> float:
        """The largest factor by which an arm is surely better, at any point; 1 if no point is decided."""
        every = map(Outcome.of, self.cells)
        return max((found.least for found in every if found.is_decided), default=1.0)

    def winner(self, cell: Row) -> str:
        """The better arm at a cell, ALIKE or OPEN."""
        return Outcome.of(cell).winner(self.arm, self.panel.reference)

    @property
    def runs(self) -> list[tuple[str, list[Row]]]:
        """The better arm, ALIKE or OPEN, of each part of the axis, with the cells of the part."""
        return [(who, list(own)) for who, own in groupby(self.cells, self.winner)]

    @property
    def parts(self) -> list[tuple[float, float]]:
        """The part of the axis that stands for each cell: to the middle between it and its neighbours."""
        places = [cell["x"] for cell in self.cells]
        middles = [math.sqrt(low * high) for low, high in pairwise(places)]
        steps = [math.sqrt(high / low) for low, high in pairwise(places)] or [2.0]
        return list(pairwise([places[0] / steps[0], *middles, places[-1] * steps[-1]]))


def pairs(panels: Iterable[Panel]) -> list[Pair]:
    """Every rival with its reference, the strongest differences first."""
    found = [Pair(panel, arm) for panel in panels for arm in panel.compared]
    return sorted(found, key=lambda pair: -pair.strength)


def in_bytes(pair: Pair) -> Pair:
    """The pair with its axis in bytes, if the axis is a length of arrays; otherwise the pair itself."""
    factor = numbers.UNIT_BYTES.get(pair.panel.facts["axis_unit"], 1)
    if factor == 1:
        return pair
    places = ("x", "low", "high", "bracket_low", "bracket_high")
    units = {"axis_unit": "bytes"}
    cells = [row | units | {"x": factor * row["x"]} for row in pair.panel.ratios]
    crossed = [
        row | units | {name: row[name] and factor * row[name] for name in places} for row in pair.panel.crossovers
    ]
    summary = [row | units | {"x": factor * row["x"]} for row in pair.panel.summary]
    return Pair(replace(pair.panel, summary=summary, ratios=cells, crossovers=crossed), pair.arm)


def outcome(pair: Pair) -> str:
    """Who wins where."""
    cells, runs = pair.cells, pair.runs
    if not pair.is_replicated:
        return f"{OPEN}: one launch has no interval"
    if len(runs) == 1:
        who = runs[0][0]
        if who in (ALIKE, OPEN):
            return f"{who} everywhere{_within(cells)}"
        return f"{who} everywhere, {factors(cells)} {numbers.comparatives(pair.panel.unit)[0]}"
    won = [who for who, _ in runs if who not in (ALIKE, OPEN)]
    row = pair.panel.crossover_of(pair.arm)
    if pair.verdict == "one" and row and won == [runs[0][0], runs[-1][0]]:
        place = numbers.position(row["x"], row["low"], row["high"], row["axis_unit"])
        return f"{won[0]} | {place} | {won[1]}"
    return " | ".join(_part(who, own, own[0] is cells[0], own[-1] is cells[-1]) for who, own in runs)


def factors(cells: Sequence[Row]) -> str:
    """The smallest and the largest factor between two arms, at single points."""
    found = sorted(math.exp(abs(math.log(cell["ratio"]))) for cell in cells)
    ends = dict.fromkeys(numbers.significant(end, 2) for end in (found[0], found[-1]))
    return f"{' to '.join(ends)} times"


def where(own: Sequence[Row], everywhere: Sequence[Row]) -> str:
    """Some cells of an axis, in words."""
    unit = own[0]["axis_unit"]
    first, last = (numbers.quantity(cell["x"], unit) for cell in (own[0], own[-1]))
    if len(own) == len(everywhere):
        return f"at every measured point ({first} to {last})" if first != last else f"at {first}"
    if len(own) > 1 and own == everywhere[: len(own)]:
        return f"up to {last}"
    if len(own) > 1 and own == everywhere[-len(own) :]:
        return f"from {first} on"
    return f"at {numbers.runs([cell['x'] for cell in own], [cell['x'] for cell in everywhere], unit)}"


def _part(who: str, cells: list[Row], first: bool, last: bool) -> str:
    if who == OPEN and not (first or last):
        return OPEN
    unit = cells[0]["axis_unit"]
    if len(cells) == 1 or not (first or last):
        places = [cell["x"] for cell in cells]
        return f"{who} at {numbers.runs(places, places, unit)}"
    end = numbers.quantity(cells[-1 if first else 0]["x"], unit)
    return f"{who} {'up to' if first else 'from'} {end}"


def _within(cells: Sequence[Row]) -> str:
    """The largest possible factor at any of these points; empty if one has none."""
    most = max(Outcome.of(cell).most for cell in cells)
    return f" (at most {numbers.significant(most, 2)} times)" if math.isfinite(most) else ""
