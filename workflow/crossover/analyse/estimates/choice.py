"""A question, and the arm to choose at each point of its axis, with the most that this can cost against the best arm.

Multiple comparisons with the best (Edwards & Hsu, J. Am. Stat. Assoc. 78 (1983) 965; Hsu, Ann. Stat. 12 (1984) 1136),
on differences of paired arms with any dependence between them (Nelson & Matejcik, Manage. Sci. 41 (1995) 1935), with an
indifference zone (Bechhofer, Ann. Math. Stat. 25 (1954) 16). The bound holds for all arms at once, so the choice may be
made after a look at the data.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from crossover.analyse.estimates.crossover import Crossing, crossing
from crossover.analyse.estimates.curve import PANEL, Curve, Row
from crossover.analyse.estimates.intervals import Estimate, Floats, difference, estimate, holm
from crossover.analyse.estimates.sensitivity import Biases
from crossover.design import experiments, protocol
from crossover.records.outcome import HORIZON, KNOWN, OPEN, SAFER, SETTLED, SURE, WINNER
from crossover.records.record import CONFIDENCE, SIGNIFICANCE
from crossover.records.rows import Launch

MINOR = np.log(KNOWN)
"""The loss, as a logarithm, up to which users do not mind which arm they have."""

NEAR = np.log(1.2)
"""How much more an open choice may cost, as a logarithm, to stay the same as at the point before. By simulation
(docs/decisions/choices.md), a larger factor means fewer changes, and hardly fewer settled points."""

AXIS = ("axis", "axis_unit", "unit", "better")
"""Columns that are the same all along a question."""


@dataclass(frozen=True)
class Choice:
    """The choice at one point; all factors are at least 1, but those to the next arm, which may be below."""

    cell: int
    """The place of the point among the cells of the axis."""
    arm: str
    verdict: str
    guarantee: float
    """The most by which the best arm can be better."""
    costs: Mapping[str, float]
    """By candidate, the most by which another can be better."""
    left: tuple[str, ...]
    """The other arms that the observed best has not surely beaten."""
    next: str
    """The best other arm, by its mean."""
    factor: tuple[float, float, float]
    """The factor by which the choice is better than that, and the ends of its interval for chance alone."""
    launches: int
    """The fewest launches behind a difference to another arm."""
    launches_needed: int | None
    """As many would settle it, whatever the means turn out to be; None if it is settled, and for too many."""
    change: str = ""
    """SURE or SAFER where the arm is not that of the point before; otherwise empty."""
    between: tuple[int, int] = (0, 0)
    """The cells of a sure change between which it is: the last at which it was surely not yet, or the first of the arm
    before; and the first at which it surely has been."""


def choices(better: Mapping[str, Floats], bias: float) -> list[Choice]:
    """The choice at each cell that at least two arms have, each with an interval to every other arm there.

    `better` has, by arm, the logarithms of the factors by which launches found it better than their reference, shape
    (launches, cells); NaN where a launch has none. `bias` is the possible bias of a difference of two arms, as a
    logarithm; NaN if it is unknown.
    """
    if np.isnan(bias):
        return []
    arms, d = list(better), list(better.values())
    here = np.array([(~np.isnan(own)).sum(axis=0) > 1 for own in d])
    cells = np.flatnonzero(here.sum(axis=0) > 1)
    pairs = _pairs(d, here, bias)
    upper, beaten = pairs.upper(), pairs.beaten(cells)
    left = [[int(arm) for arm in np.flatnonzero(here[:, cell] & ~beaten[:, cell])] for cell in cells]
    # A winner; otherwise all that cost little, or not much more than the cheapest if that costs more than little.
    least = upper.min(axis=0)
    limits = np.where(least <= MINOR, MINOR, least + NEAR)
    allowed = [
        [arm for arm in own if upper[arm, cell] <= limits[cell]] or [int(np.argmin(upper[:, cell]))]
        for cell, own in zip(cells, left, strict=True)
    ]
    path = _without_returns(_steady(allowed, upper[:, cells]), left, upper[:, cells])
    found = [
        _choice(arms, pairs, int(cell), arm, upper[:, cell], own)
        for cell, arm, own in zip(cells, path, left, strict=True)
    ]
    return [replace(each, **change) for each, change in zip(found, _changes(found), strict=True)]


@dataclass(frozen=True)
class Question:
    """A panel whose metric users choose by, along one axis, with the arms that they can choose."""

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

        Without a single crossover between them, no estimate, and the part between the cells where one is possible; all
        of it if none is.
        """
        d = self.better[after] - self.better[before]
        result = crossing(self.x, d, self.bias) if not np.isnan(d).all() else Crossing(OPEN)
        low, high = float(self.x[first]), float(self.x[second])
        if result.verdict == "one" and result.x and low <= result.x <= high:
            return float(result.low or low), result.x, float(result.high or high)
        lower, upper = max(low, result.low or low), min(high, result.high or high)
        return (lower, None, upper) if lower < upper else (low, None, high)


def questions(curves: Sequence[Curve], launches: Sequence[Launch]) -> Iterator[Question]:
    """The questions that these curves answer; `launches` are the rows of their launches."""
    biases = Biases(curves)
    panels: dict[tuple[str, ...], list[Curve]] = {}
    unsafe = _unencrypted(launches)
    for curve in curves:
        if _is_candidate(curve, unsafe):
            panels.setdefault(tuple(curve.facts[name] for name in PANEL), []).append(curve)
    # The bias of the reference itself is that of every arm beside it.
    yield from (Question(tuple(own), biases.of(own[0])) for own in panels.values())


@dataclass(frozen=True)
class _Pairs:
    """The differences of all pairs of arms; each array has shape (arms, other arms, cells)."""

    mean: Floats
    """The logarithm of the factor by which the first is better."""
    error: Floats
    df: Floats
    bias: Floats
    launches: Floats

    @property
    def whole(self) -> Estimate:
        """The estimates for chance and bias together."""
        return Estimate(self.mean, self.error, self.df).with_bias(self.bias)

    def upper(self) -> Floats:
        """For each arm and cell, the logarithm of the most by which another can be better, at least 0.

        Bonferroni over the others: at most one cell in twenty has an arm that is better by more. Infinite where the arm
        has no interval.
        """
        whole = self.whole
        others = (~np.isnan(self.mean)).sum(axis=1)
        margin = stdtrit(whole.df, 1 - SIGNIFICANCE / np.maximum(others, 1)[:, np.newaxis]) * whole.error
        worse = np.where(np.isnan(self.mean), -np.inf, margin - self.mean).max(axis=1)
        return np.where(others > 0, np.maximum(worse, 0), np.inf)

    def beaten(self, cells: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Whether the observed best is surely better than each arm, after Holm over all arms and cells."""
        p = self.whole.p
        tests = [
            (best, other, cell)
            for cell in cells
            for best in [_best(self.mean[:, :, cell])]
            for other in np.flatnonzero(~np.isnan(self.mean[best, :, cell]))
        ]
        found = np.zeros(self.mean.shape[1:], bool)
        if tests:
            index = tuple(np.array(tests).T)
            found[index[1:]] = (holm(p[index]) <= SIGNIFICANCE) & (self.mean[index] > 0)
        return found


def _pairs(better: Sequence[Floats], here: NDArray[np.bool_], bias: float) -> _Pairs:
    """All differences: within the launches that measured both; without two of those, of both arms' own launches.

    Then each has a bias of its own, relative to the reference of its launches.
    """
    count, cells = len(better), better[0].shape[1]
    mean, error, df, biases, launches = np.full((5, count, count, cells), np.nan)
    own = [estimate(d) for d in better]
    behind = [(~np.isnan(d)).sum(axis=0) for d in better]
    for first in range(count):
        for second in range(first):
            d = better[first] - better[second]
            paired, apart = estimate(d), difference(own[first], own[second])
            together = (~np.isnan(d)).sum(axis=0)
            use, both = together > 1, here[first] & here[second]
            fewest = np.minimum(behind[first], behind[second])
            for i, j, sign in ((first, second, 1), (second, first, -1)):
                mean[i, j] = np.where(both, sign * np.where(use, paired.mean, apart.mean), np.nan)
                error[i, j] = np.where(use, paired.error, apart.error)
                df[i, j] = np.where(use, paired.df, apart.df)
                biases[i, j] = np.where(use, bias, bias * np.sqrt(2))
                launches[i, j] = np.where(use, together, fewest)
    return _Pairs(mean, error, df, biases, launches)


def _best(means: Floats) -> int:
    """The arm that is better than all others, or that loses least to one of them, by means of shape (arms, others)."""
    worst = np.where(np.isnan(means), np.inf, means).min(axis=1)
    return int(np.argmax(np.where(np.isinf(worst), -np.inf, worst)))


def _steady(allowed: Sequence[Sequence[int]], upper: Floats) -> list[int]:
    """One of the allowed arms in each cell, with the fewest changes along the axis; of these the least loss."""
    paths: dict[int, tuple[int, float, list[int]]] = {}
    for cell, arms in enumerate(allowed):
        paths = {
            arm: min(
                (
                    (changes + (arm != last), loss + upper[arm, cell], [*path, arm])
                    for last, (changes, loss, path) in paths.items()
                ),
                default=(0, float(upper[arm, cell]), [arm]),
            )
            for arm in arms
        }
    return min(paths.values())[2] if paths else []


def _without_returns(path: list[int], left: Sequence[Sequence[int]], upper: Floats) -> list[int]:
    """The path without changes to another arm and back that lower the bound by less than NEAR."""
    parts = [[*own] for _, own in groupby(range(len(path)), path.__getitem__)]
    for before, own, after in zip(parts, parts[1:], parts[2:], strict=False):
        arm = path[before[0]]
        stays = (arm in left[at] and upper[arm, at] <= upper[path[at], at] + NEAR for at in own)
        if path[after[0]] == arm and all(stays):
            path[own[0] : own[-1] + 1] = [arm] * len(own)
    return path


def _changes(found: Sequence[Choice]) -> Iterator[dict[str, Any]]:
    """The fields `change` and `between` of each choice along the axis."""
    parts = [[*own] for _, own in groupby(found, lambda choice: choice.arm)]
    for before, own in zip([[], *parts], parts, strict=False):
        beaten = [each for each in own if before and before[0].arm not in each.left]
        not_yet = [each.cell for each in before if own[0].arm not in each.left]
        if beaten:
            yield {"change": SURE, "between": (not_yet[-1] if not_yet else before[0].cell, beaten[0].cell)}
        else:
            yield {"change": SAFER if before else ""}
        yield from ({} for _ in own[1:])


def _choice(arms: Sequence[str], pairs: _Pairs, cell: int, arm: int, upper: Floats, left: Sequence[int]) -> Choice:
    mean = pairs.mean[arm, :, cell]
    others = np.flatnonzero(~np.isnan(mean))
    after = int(min(others, key=lambda other: mean[other]))
    margin = stdtrit(pairs.df[arm, after, cell], (1 + CONFIDENCE) / 2) * pairs.error[arm, after, cell]
    best, low, high = (float(np.exp(mean[after] + step * margin)) for step in (0, -1, 1))
    verdict = WINNER if left == [arm] else SETTLED if upper[arm] <= MINOR else OPEN
    return Choice(
        cell=cell,
        arm=arms[arm],
        verdict=verdict,
        guarantee=float(np.exp(upper[arm])),
        costs={name: float(np.exp(cost)) for name, cost in zip(arms, upper, strict=True) if np.isfinite(cost)},
        left=tuple(arms[other] for other in left if other != arm),
        next=arms[after],
        factor=(best, low, high),
        launches=int(pairs.launches[arm, others, cell].min()),
        launches_needed=_needed(pairs, cell, sorted({arm, *left}), len(others)) if verdict == OPEN else None,
    )


def _needed(pairs: _Pairs, cell: int, left: Sequence[int], others: int) -> int | None:
    """The fewest launches that bring the margin of each pair of these arms within the indifference zone.

    Formula: the second stage of Nelson & Matejcik, from the variances of the first.
    """
    most = 0
    for first, second in ((first, second) for first in left for second in left if first < second):
        now = pairs.launches[first, second, cell]
        more = np.arange(now + 1, HORIZON * now + 1)
        df = pairs.df[first, second, cell] * (more - 1) / (now - 1)
        chance = pairs.error[first, second, cell] * np.sqrt(now / more)
        error = np.hypot(chance, pairs.bias[first, second, cell] / stdtrit(df, (1 + CONFIDENCE) / 2))
        enough = more[stdtrit(df, 1 - SIGNIFICANCE / others) * error <= MINOR]
        if not enough.size:
            return None
        most = max(most, int(enough[0]))
    return most or None


def _is_candidate(curve: Curve, unsafe: set[str]) -> bool:
    """Whether users choose by the curve's metric, and can choose its arm."""
    facts = curve.facts
    known = experiments.declared().get(facts["experiment"])
    if known is None or facts["is_null_arm"] or facts["ceiling"] or facts["arm"] in unsafe:
        return False
    return facts["metric"] in known.questions and facts["arm"] not in known.diagnostic


def _unencrypted(launches: Sequence[Launch]) -> set[str]:
    """Task farms that show what encryption costs, and that nobody should choose."""
    every: dict[str, Mapping[str, object]] = {}
    for launch in launches:
        every |= (launch.settings or {}).get("entrants", {})
    return {name for name, options in every.items() if options.get("encrypted") is False}


def _advantage(curve: Curve, launches: Sequence[int], x: Floats) -> Floats:
    """A curve's log ratios to the reference, positive where it is better; zero for the reference itself."""
    is_reference = curve.facts["arm"] == curve.facts["reference"]
    sign = 1 if curve.facts["better"] == "higher" else -1
    ratios = np.where(np.isnan(curve.values), np.nan, 0.0) if is_reference else sign * curve.ratios
    whole = np.full((len(launches), len(x)), np.nan)
    whole[np.ix_(np.searchsorted(launches, curve.launches), np.searchsorted(x, curve.x))] = ratios
    return whole
