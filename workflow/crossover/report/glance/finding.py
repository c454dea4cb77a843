"""The finding of a run: its title and the cards below it, from the strongest decided pairs."""

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crossover.experiments import declared, subject
from crossover.records.outcome import ALIKE, OPEN
from crossover.report.base import markup, numbers, questions
from crossover.report.base.tables import Row, Tables
from crossover.report.charts import arm_styles
from crossover.report.charts.colours import Colour
from crossover.report.glance import overview, strips
from crossover.report.sections import claims
from crossover.report.sentences import noise
from crossover.report.sentences.winners import Pair, in_bytes, pairs, where

NAMED = 2
"""The most findings in a title."""

SMOKE = "A smoke run: its numbers mean little"
UNDECIDED = "No alternative is surely better here"
EMPTY = "Nothing was measured"


@dataclass(frozen=True)
class Finding:
    """An arm that is better on a part of an axis."""

    pair: Pair
    arm: str
    cells: list[Row]

    @property
    def other(self) -> str:
        """The arm that is worse there."""
        return self.pair.panel.reference if self.arm == self.pair.arm else self.pair.arm

    @property
    def colour(self) -> Colour:
        """The colour of the better arm in all charts."""
        return arm_styles.of(self.pair.panel)[self.arm].colour

    @property
    def factors(self) -> str:
        """The smallest and the largest factor, such as `2.0–5.6×`."""
        found = sorted(math.exp(abs(math.log(cell["ratio"]))) for cell in self.cells)
        return f"{'–'.join(dict.fromkeys(numbers.significant(end, 2) for end in (found[0], found[-1])))}×"

    @property
    def strength(self) -> float:
        """The largest factor."""
        return max(abs(math.log(cell["ratio"])) for cell in self.cells)

    @property
    def where(self) -> str:
        """The part of the axis, in words."""
        return where(self.cells, in_bytes(self.pair).cells)


def findings(every: Sequence[Pair]) -> list[Finding]:
    """One finding for each experiment of the first screen, the strongest first. `every` has the strongest pairs first.

    A finding is the longest part of the axis on which one arm of a curve is better, and no third arm beats it.
    """
    found: dict[str, Finding] = {}
    for shown in overview.first(every):
        own = [pair for pair in every if pair.panel is shown.panel]
        won = [each for pair in own for each in _won(pair) if not any(_beats(other, each) for other in own)]
        if won and shown.panel.experiment not in found:
            longest = max(won, key=lambda finding: (len(finding.cells), finding.strength))
            found[shown.panel.experiment] = longest
    return sorted(found.values(), key=lambda finding: -finding.strength)


def _won(pair: Pair) -> list[Finding]:
    """The parts of a pair's axis on which one arm is better."""
    return [Finding(pair, who, cells) for who, cells in in_bytes(pair).runs if who not in (ALIKE, OPEN)]


def _beats(pair: Pair, finding: Finding) -> bool:
    """Whether this pair's arm is better than the reference in a part of a finding for the reference."""
    places = [cell["x"] for cell in finding.cells]
    wins = [cell["x"] for cell in in_bytes(pair).cells if pair.winner(cell) == pair.arm]
    return finding.arm == pair.panel.reference and any(places[0] <= x <= places[-1] for x in wins)


def title(tables: Tables, leads: Mapping[str, str]) -> str:
    """The strongest findings in a sentence, in Markdown; otherwise why there is none."""
    every = pairs(tables.all_leading(leads))
    if not tables.launches or not every:
        return EMPTY
    if noise.is_smoke(tables.launches):
        return SMOKE
    told = [_told(finding, every) for finding in findings(every)[:NAMED]]
    return markup.capitalized("; ".join(told)) or UNDECIDED


def _told(finding: Finding, every: Sequence[Pair]) -> str:
    """What to do, with its part of the axis unless that is all of it; the curve if another curve contradicts."""
    panel = finding.pair.panel
    known = declared().get(panel.experiment)
    everywhere = len(finding.cells) == len(finding.pair.cells)
    place = "" if everywhere else f" {finding.where}"
    own = [pair for pair in every if pair.panel.experiment == panel.experiment]
    if any(_contradicts(pair, finding) for pair in own):
        name = questions.names(pair.panel for pair in own)[questions.name(panel)]
        curve = name.removeprefix(subject(panel.experiment)).strip(" ,")
        place = f"{f' ({curve})' if curve else ''}{place}"
    action = known.action if known else f"use {subject(panel.experiment)}"
    return f"{action}{place} with `{markup.verbatim(finding.arm)}`"


def _contradicts(pair: Pair, finding: Finding) -> bool:
    """Whether the worse arm of the finding is better in a part of it, on another curve."""
    if {pair.arm, pair.panel.reference} != {finding.arm, finding.other}:
        return False
    low, high = finding.cells[0]["x"], finding.cells[-1]["x"]
    return any(pair.winner(cell) == finding.other and low <= cell["x"] <= high for cell in in_bytes(pair).cells)


def cards(tables: Tables, leads: Mapping[str, str]) -> str:
    """Up to four numbers as HTML: the strongest findings, the size of a setting, the published claims.

    A smoke run has none.
    """
    if noise.is_smoke(tables.launches):
        return ""
    every = pairs(tables.all_leading(leads))
    names = questions.names(pair.panel for pair in every)
    shown = [_found(each, names) for each in findings(every)[:NAMED]]
    shown += [_level(row) for row in tables.recommendations if row["recommended"] and row["default"] is None][:1]
    shown += [_claims(tables.claims)] if any(row["verdict"] in claims.DECIDED for row in tables.claims) else []
    return f'<div class="crossover-cards">{"".join(shown)}</div>' if shown else ""


def _card(number: str, meaning: str, validity: str) -> str:
    return f"<div><strong>{html.escape(number)}</strong><p>{meaning}</p><small>{html.escape(validity)}</small></div>"


def _found(finding: Finding, names: Mapping[questions.Name, str]) -> str:
    better = numbers.comparatives(finding.pair.panel.unit)[0]
    arm = strips.coloured(finding.arm, finding.colour)
    meaning = f"{better}: {arm} instead of {html.escape(finding.other)}"
    return _card(finding.factors, meaning, f"{names[questions.name(finding.pair.panel)]}, {finding.where}")


def _level(row: Row) -> str:
    unit = row["axis_unit"]
    ends = "upper bound" if row["low"] is None else numbers.position(row["x"], row["low"], row["high"], unit)
    interval = ends.partition(" [")[2].rstrip("]").replace(", ", " to ") or ends
    return _card(f"about {numbers.quantity(row['x'], unit, 2)}", html.escape(row["about"]), f"{row['arm']}, {interval}")


def _claims(judged: Sequence[Row]) -> str:
    verdicts = [row["verdict"] for row in judged]
    holds, decided = verdicts.count("holds"), sum(map(verdicts.count, claims.DECIDED))
    rest = [f"{verdicts.count(each)} {each}" for each in ("refuted", "open", "not measured") if each in verdicts]
    return _card(f"{holds} of {decided}", "decided published claims hold", ", ".join(rest))
