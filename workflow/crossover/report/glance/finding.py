"""The finding of a run: its title and the cards below it, from the choices that most people ask for."""

import html
from collections.abc import Sequence
from itertools import groupby

from crossover.experiments import declared, subject
from crossover.records.outcome import WINNER
from crossover.report.base import markup, numbers
from crossover.report.base.tables import Row, Tables, competes
from crossover.report.charts import arm_styles
from crossover.report.glance import strips
from crossover.report.sections import claims
from crossover.report.sentences import choices, noise
from crossover.report.sentences.choices import Question

NAMED = 2
"""The most questions in a title, and among the cards."""

SMOKE = "A smoke run: its numbers mean little"
UNDECIDED = "No choice is settled here"
EMPTY = "Nothing was measured"


def title(tables: Tables) -> str:
    """What to do in a sentence, in Markdown; otherwise why there is none."""
    if not tables.launches or not any(row["outcome"] == "measured" for row in tables.launches):
        return EMPTY
    if noise.is_smoke(tables.launches):
        return SMOKE
    told = map(_told, _first([question for question in choices.asked(tables) if question.is_settled]))
    return markup.capitalized(choices.plain("; ".join(told))) or UNDECIDED


def _first(asked: Sequence[Question]) -> list[Question]:
    """The first question of each of the first experiments."""
    found: dict[str, Question] = {}
    for question in asked:
        found.setdefault(question.panel.experiment, question)
    return list(found.values())[:NAMED]


def _told(question: Question) -> str:
    known = declared().get(question.panel.experiment)
    action = known.action if known else f"use {subject(question.panel.experiment)}"
    about = question.name.removeprefix(subject(question.panel.experiment)).strip(" ,:")
    return f"{action}{f' ({about})' if about else ''} with {question.marked}"


def cards(tables: Tables) -> str:
    """Up to four numbers as HTML: the first winners, the size of a setting, the published claims.

    A smoke run has none.
    """
    if noise.is_smoke(tables.launches):
        return ""
    won = [question for question in choices.asked(tables) if _won(question)]
    shown = [_found(question) for question in _first(won)]
    shown += [_level(row) for row in _levels(tables)[:1]]
    shown += [_claims(tables.claims)] if any(row["verdict"] in claims.DECIDED for row in tables.claims) else []
    return f'<div class="crossover-cards">{"".join(shown)}</div>' if shown else ""


def _won(question: Question) -> list[Row]:
    """The longest part of the first curve's axis on which one arm is surely the best; empty without one."""
    own = [row for _, rows in question.segments for row in rows]
    parts = groupby(own, lambda row: row["choice"] if row["verdict"] == WINNER else None)
    return max(([*rows] for arm, rows in parts if arm is not None), key=len, default=[])


def _found(question: Question) -> str:
    won = _won(question)
    better, _ = numbers.comparatives(won[0]["unit"])
    factors = sorted(row["factor"] for row in won)
    ends = dict.fromkeys(numbers.significant(end, 2) for end in (factors[0], factors[-1]))
    arm = strips.coloured(won[0]["choice"], arm_styles.of(question.panel)[won[0]["choice"]].colour)
    after = {row["next"] for row in won}
    meaning = f"{better}: {arm} instead of {html.escape(after.pop() if len(after) == 1 else 'the next')}"
    low, high = (numbers.quantity(row["x"], row["axis_unit"], 2) for row in (won[0], won[-1]))
    place = f"{low} to {high}" if low != high else low
    return _card(f"{'–'.join(ends)}×", meaning, f"{question.name}, {place}")


def _card(number: str, meaning: str, validity: str) -> str:
    return f"<div><strong>{html.escape(number)}</strong><p>{meaning}</p><small>{html.escape(validity)}</small></div>"


def _levels(tables: Tables) -> list[Row]:
    """The places from which an arm reaches the highest level of its metric, the nearest first."""
    known = [row for row in tables.thresholds if row["x"] is not None and competes(row)]
    return sorted(known, key=lambda row: (-row["level"], row["x"]))


def _level(row: Row) -> str:
    unit = row["axis_unit"]
    _, _, ends = numbers.position(row["x"], row["low"], row["high"], unit).partition(" [")
    interval = f", {ends.rstrip(']').replace(', ', ' to ')}" if ends else ""
    meaning = f"{row['axis']} from which {row['metric']} reaches {numbers.percent(row['level'])}"
    return _card(f"about {numbers.quantity(row['x'], unit, 2)}", html.escape(meaning), f"{row['arm']}{interval}")


def _claims(judged: Sequence[Row]) -> str:
    verdicts = [row["verdict"] for row in judged]
    holds, decided = verdicts.count("holds"), sum(map(verdicts.count, claims.DECIDED))
    rest = [f"{verdicts.count(each)} {each}" for each in ("refuted", "open", "not measured") if each in verdicts]
    return _card(f"{holds} of {decided}", "decided published claims hold", ", ".join(rest))
