"""The table of choices: which arm to take, question by question and point by point."""

import json
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from crossover import experiments
from crossover.analyse.curves.curve import PANEL, Curve, Row
from crossover.analyse.curves.panel import advantage
from crossover.analyse.estimators.choice import Choice, choices
from crossover.analyse.estimators.crossover import crossing
from crossover.analyse.estimators.sensitivity import Biases
from crossover.analyse.statistics.intervals import Floats, estimate
from crossover.analyse.statistics.scale import of_unit
from crossover.design import protocol
from crossover.design.settings import read_settings


def rows(curves: Sequence[Curve], launches: Sequence[Row]) -> Iterator[Row]:
    """The rows of record.CHOICES of an experiment's curves; `launches` are the rows of its launches.

    A question is a panel whose metric users choose by; its candidates are the arms that they can choose.
    """
    biases = Biases(curves)
    panels: dict[tuple[str, ...], list[Curve]] = {}
    unsafe = _unencrypted(launches)
    for curve in curves:
        if _is_candidate(curve, unsafe):
            panels.setdefault(tuple(curve.facts[name] for name in PANEL), []).append(curve)
    for own in panels.values():
        # That of the reference itself is that of every arm beside it.
        yield from _question(own, biases.of(own[0]))


def _is_candidate(curve: Curve, unsafe: set[str]) -> bool:
    """Whether users choose by the curve's metric, and can choose its arm."""
    facts = curve.facts
    known = experiments.declared().get(facts["experiment"])
    if known is None or facts["null"] or facts["ceiling"] or facts["arm"] in unsafe:
        return False
    return facts["metric"] in known.questions and facts["arm"] not in known.diagnostic


def _unencrypted(launches: Sequence[Row]) -> set[str]:
    """Task farms that show what encryption costs, and that nobody should choose."""
    every: dict[str, Mapping[str, object]] = {}
    for settings in {row["settings"] for row in launches}:
        every |= read_settings(settings).get("entrants", {})
    return {name for name, options in every.items() if options.get("encrypted") is False}


def _question(curves: Sequence[Curve], bias: float) -> Iterator[Row]:
    numbers = sorted({number for curve in curves for number in curve.launches})
    x = np.array(sorted({place for curve in curves for place in curve.x}))
    better = {curve.facts["arm"]: advantage(curve, numbers, x) for curve in curves}
    found = choices(better, bias)
    values = {curve.facts["arm"]: _values(curve) for curve in curves}
    shared = curves[0].facts
    facts = {name: shared[name] for name in (*PANEL, "axis", "axis_unit", "unit", "better")} | protocol.columns(shared)
    for before, each in zip([None, *found], found, strict=False):
        value, low, high = values[each.arm][float(x[each.cell])]
        factor, factor_low, factor_high = each.factor
        yield facts | {
            "x": x[each.cell],
            "choice": each.arm,
            "verdict": each.verdict,
            "guarantee": each.guarantee,
            "left": json.dumps(each.left),
            "candidates": json.dumps([arm for arm, d in better.items() if np.isfinite(d[:, each.cell]).sum() > 1]),
            "next": each.next,
            "value": value,
            "low": low,
            "high": high,
            "factor": factor,
            "factor_low": factor_low,
            "factor_high": factor_high,
            "launches": each.launches,
            "launches_needed": each.launches_needed,
            **(_boundary(before, each, x, better, bias) if before and before.arm != each.arm else {}),
        }


def _values(curve: Curve) -> dict[float, tuple[float, float, float]]:
    """The values of an arm with their intervals, by place."""
    scale = of_unit(curve.facts["unit"])
    cells = estimate(scale.of_log(curve.values))
    ends = (scale.value(part) for part in (cells.mean, cells.low, cells.high))
    return {float(place): (middle, low, high) for place, middle, low, high in zip(curve.x, *ends, strict=True)}


def _boundary(before: Choice, after: Choice, x: Floats, better: Mapping[str, Floats], bias: float) -> Row:
    """The place from which the second of two neighbouring choices is better than the first, with its interval.

    Without a single crossover between their points, the points themselves, and no place.
    """
    d = better[after.arm] - better[before.arm]
    found = crossing(x, d, bias) if not np.isnan(d).all() else None
    low, high = float(x[before.cell]), float(x[after.cell])
    if found and found.verdict == "one" and found.x and low <= found.x <= high:
        return {"begins": found.x, "begins_low": found.low, "begins_high": found.high}
    return {"begins_low": low, "begins_high": high}
