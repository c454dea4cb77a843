"""The winner at each part of the axis, in a few words per pair of arms."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby

from crossover.report.base import numbers
from crossover.report.base.tables import Panel, Row

OPEN = "open"

SMALL_FACTOR = 1.5
"""If all intervals exclude larger factors, no difference was seen; otherwise the question is open."""


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
        """The verdict on the crossover; `not replicated` for a single launch."""
        row = self.panel.crossover_of(self.arm)
        if row is None or row["launches"] < 2:
            return "not replicated"
        return str(row["verdict"])

    @property
    def is_open(self) -> bool:
        """Whether a point is undecided and no crossover explains it."""
        return self.verdict not in ("one", "always", "several")

    @property
    def strength(self) -> float:
        """The largest factor, as a logarithm, that is certain at a point; 0 if none is."""
        return max((_certain(cell) for cell in self.cells), default=0.0)

    def winner(self, cell: Row) -> str:
        """The better arm at a cell by its own interval, or OPEN."""
        if not _certain(cell):
            return OPEN
        return self.arm if (cell["ratio"] > 1) == (cell["better"] == "higher") else self.panel.reference


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
    """Who wins where, each point by its own interval."""
    cells = pair.cells
    runs = [(who, list(own)) for who, own in groupby(cells, pair.winner)]
    if pair.verdict == "not replicated":
        return "not replicated: one launch has no interval"
    if {who for who, _ in runs} == {OPEN}:
        return _undecided(cells)
    if len(runs) == 1:
        return f"{runs[0][0]} everywhere, {factors(cells)} {numbers.comparatives(pair.panel.unit)[0]}"
    crossed = [run for run in runs if run[0] != OPEN]
    row = pair.panel.crossover_of(pair.arm)
    if pair.verdict == "one" and row and len(crossed) == 2:
        place = numbers.position(row["x"], row["low"], row["high"], row["axis_unit"])
        return f"{crossed[0][0]} | {place} | {crossed[1][0]}"
    return " | ".join(_part(who, own, own[0] is cells[0], own[-1] is cells[-1]) for who, own in runs)


def factors(cells: list[Row]) -> str:
    """The smallest and the largest factor between two arms, at single points."""
    found = sorted(math.exp(abs(math.log(cell["ratio"]))) for cell in cells)
    ends = dict.fromkeys(_factor(end) for end in (found[0], found[-1]))
    return f"{' to '.join(ends)} times"


def _part(who: str, cells: list[Row], first: bool, last: bool) -> str:
    if who == OPEN and not (first or last):
        return OPEN
    unit = cells[0]["axis_unit"]
    if len(cells) == 1 or not (first or last):
        places = [cell["x"] for cell in cells]
        return f"{who} at {numbers.runs(places, places, unit)}"
    end = numbers.quantity(cells[-1 if first else 0]["x"], unit)
    return f"{who} {'up to' if first else 'from'} {end}"


def _certain(cell: Row) -> float:
    """The factor of a difference, as a logarithm, that the interval of a cell makes certain; 0 if it contains 1."""
    if cell["low"] is None or cell["high"] is None or cell["low"] <= 1 <= cell["high"]:
        return 0.0
    return min(abs(math.log(cell["low"])), abs(math.log(cell["high"])))


def _undecided(cells: list[Row]) -> str:
    """A pair without a decided cell: a difference that could be large is open, a small one was not seen."""
    ends = [cell[end] for cell in cells for end in ("low", "high")]
    if None in ends:
        return f"{OPEN} everywhere"
    most = math.exp(max(abs(math.log(end)) for end in ends))
    words = "no difference seen" if most <= SMALL_FACTOR else f"{OPEN} everywhere"
    return f"{words} (less than {_factor(most)} times)"


def _factor(value: float) -> str:
    return numbers.significant(value, 2)
