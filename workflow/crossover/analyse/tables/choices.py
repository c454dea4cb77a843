"""The table of choices: which arm to take, question by question and point by point."""

import json
from collections.abc import Iterator, Sequence

from crossover.analyse.curves.curve import Curve, Row
from crossover.analyse.estimators.choice import Choice
from crossover.analyse.estimators.question import Question, questions
from crossover.analyse.statistics.intervals import estimate
from crossover.analyse.statistics.scale import of_unit


def rows(curves: Sequence[Curve], launches: Sequence[Row]) -> Iterator[Row]:
    """The rows of record.CHOICES of an experiment's curves; `launches` are the rows of its launches."""
    for question in questions(curves, launches):
        yield from _rows(question)


def _rows(question: Question) -> Iterator[Row]:
    values = {curve.facts["arm"]: _values(curve) for curve in question.curves}
    for before, each in zip([None, *question.choices], question.choices, strict=False):
        value, low, high = values[each.arm][float(question.x[each.cell])]
        factor, factor_low, factor_high = each.factor
        yield question.facts | {
            "x": question.x[each.cell],
            "choice": each.arm,
            "verdict": each.verdict,
            "guarantee": each.guarantee,
            "left": json.dumps(each.left),
            "candidates": json.dumps(each.costs),
            "next": each.next,
            "value": value,
            "low": low,
            "high": high,
            "factor": factor,
            "factor_low": factor_low,
            "factor_high": factor_high,
            "launches": each.launches,
            "launches_needed": each.launches_needed,
            **(_begins(question, before, each) if before and before.arm != each.arm else {}),
        }


def _begins(question: Question, before: Choice, after: Choice) -> Row:
    low, x, high = question.boundary(before.arm, after.arm, before.cell, after.cell)
    return {"begins": x, "begins_low": low, "begins_high": high}


def _values(curve: Curve) -> dict[float, tuple[float, float, float]]:
    """The values of an arm with their intervals, by place."""
    scale = of_unit(curve.facts["unit"])
    cells = estimate(scale.of_log(curve.values))
    ends = (scale.value(part) for part in (cells.mean, cells.low, cells.high))
    return {float(place): (middle, low, high) for place, middle, low, high in zip(curve.x, *ends, strict=True)}
