"""A question: the arms that users can choose, by a metric that they choose by, along one axis."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from crossover import experiments
from crossover.analyse.curves.curve import PANEL, Curve, Row
from crossover.analyse.estimators.choice import Choice, choices
from crossover.analyse.estimators.crossover import crossing
from crossover.analyse.estimators.sensitivity import Biases
from crossover.analyse.statistics.intervals import Floats
from crossover.design import protocol
from crossover.design.settings import read_settings

AXIS = ("axis", "axis_unit", "unit", "better")
"""Columns that are the same all along a question."""


@dataclass(frozen=True)
class Question:
    """A panel whose metric users choose by, with the arms that they can choose."""

    curves: tuple[Curve, ...]
    bias: float
    """The possible bias of a difference of two arms, as a logarithm; NaN if unknown."""

    @property
    def facts(self) -> Row:
        """The columns of PANEL, the axis, the unit, and the keys."""
        shared = self.curves[0].facts
        return {name: shared[name] for name in (*PANEL, *AXIS)} | protocol.columns(shared)

    @property
    def arms(self) -> list[str]:
        """The arms that were measured."""
        return [curve.facts["arm"] for curve in self.curves]

    @cached_property
    def launches(self) -> list[int]:
        """The numbers of all launches, rising."""
        return sorted({number for curve in self.curves for number in curve.launches})

    @cached_property
    def x(self) -> Floats:
        """All cells, rising."""
        return np.array(sorted({place for curve in self.curves for place in curve.x}))

    @cached_property
    def better(self) -> dict[str, Floats]:
        """By arm, the logarithm of the factor by which it is better than the reference, shape (launches, cells)."""
        return {curve.facts["arm"]: _advantage(curve, self.launches, self.x) for curve in self.curves}

    @cached_property
    def choices(self) -> list[Choice]:
        """The choice at each cell that has one."""
        return choices(self.better, self.bias)

    def of(self, arms: Sequence[str]) -> "Question":
        """The question between these arms only."""
        return replace(self, curves=tuple(curve for curve in self.curves if curve.facts["arm"] in arms))

    def gain(self, arm: str, other: str, cell: int) -> float:
        """The factor by which an arm is better than another in a cell: over the launches of both, otherwise of each."""
        first, second = (self.better[each][:, cell] for each in (arm, other))
        d = first - second
        return float(np.exp(np.nanmean(first) - np.nanmean(second) if np.isnan(d).all() else np.nanmean(d)))

    def boundary(self, before: str, after: str, first: int, second: int) -> tuple[float, float | None, float]:
        """The place between two cells from which `after` is better than `before`: low end, estimate, high end.

        Without a single crossover between them, the cells themselves, and no estimate.
        """
        d = self.better[after] - self.better[before]
        found = crossing(self.x, d, self.bias) if not np.isnan(d).all() else None
        low, high = float(self.x[first]), float(self.x[second])
        if found and found.verdict == "one" and found.x and low <= found.x <= high:
            return float(found.low or low), found.x, float(found.high or high)
        return low, None, high


def questions(curves: Sequence[Curve], launches: Sequence[Row]) -> Iterator[Question]:
    """The questions that these curves answer; `launches` are the rows of their launches."""
    biases = Biases(curves)
    panels: dict[tuple[str, ...], list[Curve]] = {}
    unsafe = _unencrypted(launches)
    for curve in curves:
        if _is_candidate(curve, unsafe):
            panels.setdefault(tuple(curve.facts[name] for name in PANEL), []).append(curve)
    # The bias of the reference itself is that of every arm beside it.
    yield from (Question(tuple(own), biases.of(own[0])) for own in panels.values())


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


def _advantage(curve: Curve, launches: Sequence[int], x: Floats) -> Floats:
    """A curve's log ratios to the reference, positive where it is better; zero for the reference itself."""
    is_reference = curve.facts["arm"] == curve.facts["reference"]
    sign = 1 if curve.facts["better"] == "higher" else -1
    ratios = np.where(np.isnan(curve.values), np.nan, 0.0) if is_reference else sign * curve.ratios
    whole = np.full((len(launches), len(x)), np.nan)
    whole[np.ix_(np.searchsorted(launches, curve.launches), np.searchsorted(x, curve.x))] = ratios
    return whole
