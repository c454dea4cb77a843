"""The value of a setting that follows from the choices between its arms; without one, the reason."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crossover.analyse.curves.curve import Row
from crossover.analyse.estimators.choice import Choice
from crossover.analyse.estimators.question import Question
from crossover.analyse.estimators.sensitivity import NO_NULL
from crossover.analyse.statistics.intervals import Floats
from crossover.design.advice import Setting, Value
from crossover.records.outcome import KNOWN, OPEN

DIGITS = 3
"""Significant digits of a recommended point of the axis; none is known more precisely."""

NOT_REPLICATED = "not replicated: a single launch has no interval"
KEEP = "keep `{default}`"
NO_VALUE = "no single value is surely within {known:g} times of the best at every measured point"
NO_GAIN = "open: `{default}` may be more than {known:g} times worse at some points, but no arm is surely better there"


@dataclass(frozen=True)
class Proposal:
    """The default below a measured point, and an arm from there on."""

    arm: str
    start: int
    """The first point with the arm, counted from 0."""
    cells: tuple[Choice, ...]
    default: str

    @property
    def arms(self) -> list[str]:
        """The arm at each point."""
        return [self.default] * self.start + [self.arm] * (len(self.cells) - self.start)

    @property
    def costs(self) -> list[float]:
        """The most by which another arm can be better, at each point."""
        return [cell.costs.get(arm, math.inf) for cell, arm in zip(self.cells, self.arms, strict=True)]

    @property
    def changed(self) -> list[Choice]:
        """The points without the default."""
        return [cell for cell, arm in zip(self.cells, self.arms, strict=True) if arm != self.default]

    def rank(self, chosen: Sequence[str | None]) -> tuple[int, bool, float]:
        """The place among proposals, the least first: by what the run chooses among all arms, then the smaller cost."""
        differing = sum(arm != choice for arm, choice in zip(self.arms, chosen, strict=True))
        return differing, self.start > 0, math.fsum(map(math.log, self.costs))


def decide(setting: Setting, question: Question, chosen: Mapping[float, str]) -> Row:
    """The known columns of a setting's row for one question that has only its arms.

    `chosen` has the run's choice among all arms at each point, if there is one.
    """
    cells = tuple(cell for cell in question.choices if setting.default in cell.costs)
    if not cells:
        unknown = len(question.launches) > 1 and np.isnan(question.bias)
        return {"reason": NO_NULL if unknown else NOT_REPLICATED}
    x = question.x[[cell.cell for cell in cells]]
    points = _points(cells, x)
    columns: Row = {
        "default": setting.default,
        "launches": min(cell.launches for cell in cells),
        "points": json.dumps(points),
    }
    stays = Proposal(setting.default, 0, cells, setting.default)
    if max(stays.costs) <= KNOWN:
        reason = KEEP.format(default=setting.default)
        return columns | {"arm": setting.default, "guarantee": max(stays.costs), "reason": reason}
    safe = [each for each in _proposals(setting, cells) if max(each.costs) <= KNOWN]
    if not safe:
        return columns | {"reason": f"{f'{OPEN}: ' if OPEN in points else ''}{NO_VALUE.format(known=KNOWN)}"}
    wanted = [chosen.get(place) for place in x.tolist()]
    best = min(safe, key=lambda each: each.rank(wanted))
    if not any(_loses(setting.default, cell) for cell in best.changed):
        return columns | {"reason": NO_GAIN.format(default=setting.default, known=KNOWN)}
    return columns | _recommended(setting, best, question)


def _proposals(setting: Setting, cells: tuple[Choice, ...]) -> Iterator[Proposal]:
    for arm in setting.values:
        last = len(cells) if arm in setting.beyond else 1
        yield from (Proposal(arm, start, cells, setting.default) for start in range(last))


def _loses(arm: str, cell: Choice) -> bool:
    """Whether the best of the others is surely better."""
    return arm != cell.arm and arm not in cell.left


def _points(cells: Sequence[Choice], x: Floats) -> dict[str, list[float]]:
    """The column `points`: the measured points by their choice, and those that are open."""
    found: dict[str, list[float]] = {}
    for cell, place in zip(cells, x.tolist(), strict=True):
        found.setdefault(OPEN if cell.verdict == OPEN else cell.arm, []).append(place)
    return found


def _recommended(setting: Setting, best: Proposal, question: Question) -> Row:
    gains = [question.gain(best.arm, setting.default, cell.cell) for cell in best.changed]
    columns: Row = {
        "recommended": True,
        "arm": best.arm,
        "guarantee": max(best.costs),
        "gain_low": min(gains),
        "gain_high": max(gains),
    }
    value, texts = setting.values[best.arm], setting.snippet
    if best.start:
        before, after = (best.cells[place].cell for place in (best.start - 1, best.start))
        low, x, high = question.boundary(setting.default, best.arm, before, after)
        value, texts = _written(x, high, question.x), setting.beyond
        columns |= {"x": high if x is None else x, "low": low, "high": high}
    return columns | {"value": json.dumps(value), "snippet": snippet(texts, best.arm, value)}


def snippet(texts: str | Mapping[str, str], arm: str, value: Value) -> str:
    """The lines to paste for an arm with this value."""
    return (texts if isinstance(texts, str) else texts[arm]).replace("{value}", json.dumps(value))


def _written(x: float | None, high: float, cells: Floats) -> int:
    """A place as a whole number for a program: the measured point `high`, or an estimate `x`, rounded to DIGITS unless
    that passes a measured point."""
    if x is None:
        return max(1, math.floor(high))
    rounded = round(float(f"{x:.{DIGITS - 1}e}"))
    return max(1, rounded if np.array_equal(cells >= rounded, cells >= x) else math.ceil(x))
