"""Recommends settings from the joined tables of a run, with the rule, the aims and the effects of each.

A setting's value follows from the choices between its arms; a setting without a recommendation has a reason.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import tomli_w

from crossover.analyse.estimates.choice import Choice, Question, questions
from crossover.analyse.estimates.curve import Row, curves
from crossover.analyse.estimates.intervals import Floats
from crossover.analyse.estimates.sensitivity import NO_NULL
from crossover.design.advice import Setting, Value
from crossover.design.experiments import declared
from crossover.design.protocol import holds
from crossover.planning import receipt
from crossover.records import atomic, holes, record
from crossover.records.outcome import KNOWN, OPEN
from crossover.records.rows import Launch

FILE = "recommended.toml"
"""The file in the results folder with the table's content, for people and programs."""

SMOKE = "a smoke run tests the workflow; it has too few launches for advice"

SETTINGS = tuple(replace(setting, experiment=name) for name, own in declared().items() for setting in own.recommends)
"""The settings that a run can recommend: those that experiments declare."""

DIGITS = 3
"""Significant digits of a recommended point of the axis; none is known more precisely."""

NOT_REPLICATED = "not replicated: a single launch has no interval"
KEEP = "keep `{default}`"
NO_VALUE = "no single value is surely within {known:g} times of the best at every measured point"
NO_RULE = "open: no other value is surely better than `{default}` over all questions"
NO_GAIN = "open: `{default}` may be more than {known:g} times worse at some points, but no arm is surely better there"

HEAD = """\
# Settings that crossover recommends for the machine it ran on; docs/data.md explains the keys.
# A setting without a recommendation keeps its default.

"""

TOML_TABLES = {
    "place": {"x": "x", "low": "low", "high": "high", "unit": "axis_unit"},
    "gain": {"low": "gain_low", "high": "gain_high", "over": "default"},
    "measured_by": {name: name for name in ("experiment", "placement", "protocol", "metric", "arm", "launches")},
}
"""The columns of the table behind each key, by the names of the tables of an entry."""


@dataclass(frozen=True)
class Proposal:
    """The default below a measured point, and an arm from there on."""

    arm: str
    start: int
    """The first point with the arm, counted from 0."""
    cells: tuple[Choice, ...]
    """The choices among the setting's arms."""
    among_all: tuple[Choice, ...]
    """The choices among all candidates of the question, at the same points."""
    default: str

    @property
    def arms(self) -> list[str]:
        return [self.default] * self.start + [self.arm] * (len(self.cells) - self.start)

    @property
    def costs(self) -> list[float]:
        """The most by which another arm of the setting can be better, at each point."""
        return [cell.costs.get(arm, math.inf) for cell, arm in zip(self.cells, self.arms, strict=True)]

    @property
    def guarantees(self) -> Row:
        """The columns with the most by which another arm can be better: of the question, and of the setting."""
        most = max(cell.costs.get(arm, math.inf) for cell, arm in zip(self.among_all, self.arms, strict=True))
        return {"guarantee": most, "guarantee_of_values": max(self.costs)}

    @property
    def changed(self) -> list[Choice]:
        """The points without the default."""
        return [cell for cell, arm in zip(self.cells, self.arms, strict=True) if arm != self.default]

    @property
    def rank(self) -> tuple[int, bool, float]:
        """The place among proposals, the least first: by what the run chooses among all arms, then the smaller cost."""
        differing = sum(arm != cell.arm for arm, cell in zip(self.arms, self.among_all, strict=True))
        return differing, self.start > 0, math.fsum(map(math.log, self.costs))


@dataclass(frozen=True)
class Rule:
    """One value of a setting for a whole program: the default up to a point of every axis, and an arm from there on."""

    name: str
    """The arm of the setting that has this value."""
    arm: str
    start: float
    value: Value

    def cost(self, default: str, x: float, costs: Mapping[str, float]) -> float:
        """The most by which another candidate can be better at a point, whose candidates have these costs."""
        return costs.get(self.arm if x >= self.start else default, math.inf)


def recommend(results: Path) -> None:
    """Write `recommendations.parquet` and FILE beside the joined tables in `results`.

    Raises record.RecordError for a table that is missing, damaged or of another version.
    """
    medians = record.read(results / "medians.parquet", record.MEDIANS)
    measured = record.rows_of(results / "launches.parquet", Launch)
    if receipt.tiers(measured) == ["smoke"]:
        return _write(results, [_unanswered(setting, SMOKE) for setting in SETTINGS])
    every = list(questions(list(curves(medians.to_pandas())), measured))
    return _write(results, [row for setting in SETTINGS for row in recommendations(setting, every, measured)])


def recommendations(setting: Setting, every: Sequence[Question], launches: Sequence[Launch]) -> Iterator[Row]:
    """The rows of record.RECOMMENDATIONS for one setting: one per question that has its default and another arm."""
    arms, unit = {setting.default, *setting.values}, declared()[setting.experiment].axis.unit
    asked = [question for question in every if arms & {*question.arms} and holds(setting.where, question.facts)]
    if setting.beyond:
        # A point of another axis is no value of the setting.
        asked = [question for question in asked if question.facts["axis_unit"] == unit]
    decided = [question for question in asked if setting.default in question.arms and len(arms & {*question.arms}) > 1]
    if setting.program_wide and len(decided) > 1 and (row := for_program(setting, decided)):
        yield {**_known(setting), "default": setting.default, **row}
    for question in decided:
        yield {**_known(setting), **question.facts, **decide(setting, question)}
    if not decided:
        yield _unanswered(setting, f"not measured: {_absence(setting, asked, launches)}")


def for_program(setting: Setting, questions: Sequence[Question]) -> Row:
    """The known columns of a setting's row for all these questions: the value that costs least at the worst point.

    The default, or a value that the library has by itself, stays if it costs at most KNOWN times more. Empty without a
    value that has a bound at every point.
    """
    cells = [measured for question in questions for measured in _measured(setting, question)]
    places = sorted({x for x, _, _ in cells})
    arm = next(iter(setting.beyond), "")
    middles = [math.sqrt(low * high) for low, high in pairwise(places)]
    starts = [(middle, _written(middle, np.array(places))) for middle in middles]
    shipped = {name: value for name, value in setting.values.items() if arm and isinstance(value, int) and value > 0}
    rules = [
        Rule(setting.default, setting.default, 0, setting.default),
        *(Rule(name, arm, value, value) for name, value in shipped.items()),
        *(Rule(name, name, 0, value) for name, value in setting.values.items()),
        *(Rule(arm, arm, start, value) for start, value in starts if arm),
    ]
    worst = [max((rule.cost(setting.default, x, own.costs) for x, own, _ in cells), default=math.inf) for rule in rules]
    if math.isinf(least := min(worst)):
        return {}
    kept = next((place for place in range(1 + len(shipped)) if worst[place] <= KNOWN * least), worst.index(least))
    if not any(_loses(setting.default, own) for x, own, _ in cells if x >= rules[kept].start):
        kept = 0
    rule = rules[kept]
    # It is measured by the experiment that bounds it.
    guarantee, experiment = max(
        (rule.cost(setting.default, x, whole.costs), question.facts["experiment"])
        for question in questions
        for x, _, whole in _measured(setting, question)
    )
    columns: Row = {
        "experiment": experiment,
        "arm": rule.name,
        "launches": min(own.launches for _, own, _ in cells),
        "guarantee": guarantee,
        "guarantee_of_values": worst[kept],
    }
    if not kept:
        return columns | {"reason": (KEEP if worst[0] <= KNOWN else NO_RULE).format(default=setting.default)}
    texts = setting.beyond if rule.start and rule.name == rule.arm else setting.snippet
    text = snippet(texts, rule.name, rule.value)
    return columns | {"recommended": True, "value": json.dumps(rule.value), "snippet": text}


def _measured(setting: Setting, whole: Question) -> list[tuple[float, Choice, Choice]]:
    """The points at which the default has a bound: each with the choice among the setting's arms, and among all."""
    question, everywhere = whole.of(setting.arms), {float(whole.x[cell.cell]): cell for cell in whole.choices}
    own = ((float(question.x[cell.cell]), cell) for cell in question.choices if setting.default in cell.costs)
    return [(x, cell, everywhere[x]) for x, cell in own]


def decide(setting: Setting, whole: Question) -> Row:
    """The known columns of a setting's row for one question, `whole` with all its candidates."""
    question, measured = whole.of(setting.arms), _measured(setting, whole)
    if not measured:
        unknown = len(question.launches) > 1 and np.isnan(question.bias)
        return {"reason": NO_NULL if unknown else NOT_REPLICATED}
    places, cells, among_all = zip(*measured, strict=True)
    x = np.array(places)
    points = _points(cells, x)
    columns: Row = {
        "default": setting.default,
        "launches": min(cell.launches for cell in cells),
        "points": points,
    }
    stays = Proposal(setting.default, 0, cells, among_all, setting.default)
    if max(stays.costs) <= KNOWN:
        return columns | {"arm": setting.default, "reason": KEEP.format(default=setting.default), **stays.guarantees}
    safe = [each for each in _proposals(setting, cells, among_all) if max(each.costs) <= KNOWN]
    if not safe:
        return columns | {"reason": f"{f'{OPEN}: ' if OPEN in points else ''}{NO_VALUE.format(known=KNOWN)}"}
    best = min(safe, key=lambda proposal: proposal.rank)
    if not any(_loses(setting.default, cell) for cell in best.changed):
        return columns | {"reason": NO_GAIN.format(default=setting.default, known=KNOWN)}
    return columns | _recommended(setting, best, question)


def snippet(texts: str | Mapping[str, str], arm: str, value: Value) -> str:
    """The lines to paste for an arm with this value."""
    return (texts if isinstance(texts, str) else texts[arm]).replace("{value}", json.dumps(value))


def in_toml(rows: Sequence[Row]) -> str:
    """The text of a file with two lists of tables, from rows of record.RECOMMENDATIONS, without nulls."""
    lists = {
        "recommended": [_entry(row) for row in rows if row["recommended"]],
        "no_recommendation": [_entry(row) for row in rows if not row["recommended"]],
    }
    return HEAD + tomli_w.dumps({name: entries for name, entries in lists.items() if entries}, multiline_strings=True)


def _write(results: Path, rows: list[Row]) -> None:
    table = record.from_rows(rows, record.RECOMMENDATIONS)
    record.write(table, results / "recommendations.parquet")
    with atomic.replacing(results / FILE) as part:
        part.write_text(in_toml(table.to_pylist()), encoding="utf-8")


def _absence(setting: Setting, asked: Sequence[Question], launches: Sequence[Launch]) -> str:
    """Why no question has the default and another arm."""
    if missing := holes.why(launches, setting.experiment):
        return missing
    found = {arm for question in asked if question.facts["experiment"] == setting.experiment for arm in question.arms}
    own = [row.settings or {} for row in launches if row.experiment == setting.experiment]
    configured = {arm for settings in own for arm in settings.get("arms", [])}
    named = [arm for arm in (setting.default, *setting.values) if arm not in found]
    why = "has no value here" if configured & {*named} else "is not among the arms of this run's configuration"
    return f"{' or '.join(f'`{arm}`' for arm in named)} {why}"


def _known(setting: Setting) -> Row:
    return {"library": setting.library, "setting": setting.name, "about": setting.about, "recommended": False}


def _unanswered(setting: Setting, reason: str) -> Row:
    return _known(setting) | {"experiment": setting.experiment, "default": setting.default, "reason": reason}


def _proposals(setting: Setting, cells: tuple[Choice, ...], among_all: tuple[Choice, ...]) -> Iterator[Proposal]:
    for arm in setting.values:
        last = len(cells) if arm in setting.beyond else 1
        yield from (Proposal(arm, start, cells, among_all, setting.default) for start in range(last))


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
        "gain_low": min(gains),
        "gain_high": max(gains),
        **best.guarantees,
    }
    value, texts = setting.values[best.arm], setting.snippet
    if best.start:
        before, after = (best.cells[place].cell for place in (best.start - 1, best.start))
        low, x, high = question.boundary(setting.default, best.arm, before, after)
        value, texts = _written(math.sqrt(low * high) if x is None else x, question.x), setting.beyond
        columns |= {"x": x, "low": low, "high": high}
    return columns | {"value": json.dumps(value), "snippet": snippet(texts, best.arm, value)}


def _written(x: float, cells: Floats) -> int:
    """A place as a whole number for a program, rounded to DIGITS unless that passes a measured point."""
    rounded = round(float(f"{x:.{DIGITS - 1}e}"))
    return max(1, rounded if np.array_equal(cells >= rounded, cells >= x) else math.ceil(x))


def _entry(row: Row) -> Row:
    row = row | {"value": row["value"] and json.loads(row["value"]), "points": dict(row["points"] or ())}
    own = ("library", "setting", "about", "value", "reason", "snippet", "guarantee", "guarantee_of_values", "points")
    parts = {
        name: _present({key: row[column] for key, column in columns.items()})
        for name, columns in TOML_TABLES.items()
        if name != "gain" or row["gain_low"] is not None
        if name != "place" or row["low"] is not None
    }
    return _present({name: row[name] for name in own}) | parts


def _present(entry: Row) -> Row:
    return {key: value for key, value in entry.items() if value is not None and value not in ({}, [])}
