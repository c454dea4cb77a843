"""The gain of a value over the default, and its effects on the metrics of all aims and on further metrics of the same
curves."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from crossover.analyse.curves.curve import Row
from crossover.analyse.curves.panel import Panel
from crossover.analyse.statistics.intervals import Floats, estimate, holm
from crossover.analyse.statistics.outcome import sides
from crossover.design.advice import Aim, Choice, Level, Onset, Setting, Value
from crossover.records.outcome import BETTER, OPEN, WORSE
from crossover.records.record import CONFIDENCE, SIGNIFICANCE


@dataclass(frozen=True)
class Gain:
    """Logarithm of the factor by which an alternative is better; NaN if it was not measured or not replicated."""

    launches: int
    mean: float
    low: float
    high: float
    """Ends of the interval, simultaneous over all alternatives that were tried."""
    p: float
    """p-value of no gain, beyond chance and possible bias, corrected for the alternatives that were tried."""
    tried: int

    @property
    def verdict(self) -> str:
        """BETTER or WORSE than without the setting, otherwise OPEN."""
        return (BETTER if self.mean > 0 else WORSE) if self.p <= SIGNIFICANCE else OPEN


def per_launch(d: Floats) -> Floats:
    """One number per launch from `d`, shape (launches, cells): the mean over all cells that any launch measured.

    NaN for a launch that lacks one of them, because the mean of other cells is another quantity.
    """
    measured = ~np.isnan(d).all(axis=0)
    return np.asarray(d[:, measured].mean(axis=1)) if measured.any() else np.full(len(d), np.nan)


def gains(numbers: Floats, bias: float) -> list[Gain]:
    """The gain of each alternative from `numbers`, shape (launches, alternatives), NaN where a launch has none.

    Each is a t interval over launches, and a test that allows for a `bias` too. The best of several alternatives looks
    better than it is. So the p-values are Holm's, and the intervals Bonferroni's: with k alternatives, each has a
    confidence of 1 - 5 % / k, so that all hold at once, including the selected one.
    """
    # Alternatives are not neighbours on an axis, so nothing is pooled.
    every = [estimate(column[:, np.newaxis]) for column in numbers.T]
    corrected = holm(np.array([float(each.with_bias(bias).p[0]) for each in every]))
    share = (1 - CONFIDENCE) / max(len(every), 1)
    found = []
    for column, each, p in zip(numbers.T, every, corrected, strict=True):
        mean, margin = float(each.mean[0]), float((stdtrit(each.df, 1 - share / 2) * each.error)[0])
        launches = int((~np.isnan(column)).sum())
        found.append(Gain(launches, mean, mean - margin, mean + margin, float(p), len(every)))
    return found


@dataclass(frozen=True)
class Evidence:
    """A panel with an aim's metric, or with a metric shown beside it, under one condition."""

    aim: Aim
    panel: Panel

    @property
    def decides(self) -> bool:
        """Whether the panel's metric is the aim's own."""
        return bool(self.panel.facts["metric"] == self.aim.metric)

    def beside(self, other: Evidence) -> bool:
        """Whether this has a further metric of the other's curves, to be shown beside it."""
        same = ("experiment", "placement", "protocol")
        alike = all(self.panel.facts[name] == other.panel.facts[name] for name in same)
        return self.aim == other.aim and alike and not self.decides


def default_of(rule: Onset | Choice) -> str:
    """The arm without the setting."""
    return rule.default if isinstance(rule, Choice) else rule.other


def change(rule: Onset | Choice | Level, arm: str, value: Value, panel: Panel) -> Floats:
    """The logarithm of the factor by which a panel's metric is better with the value than with the default.

    Shape (launches, cells); NaN for cells where the value changes nothing, and everywhere if an arm is missing.
    """
    if isinstance(rule, Level) or len(panel.measured([arm, default_of(rule)])) < 2:
        return np.full((len(panel.launches), len(panel.x)), np.nan)
    better = panel.better[arm] - panel.better[default_of(rule)]
    return np.where(panel.x >= float(value), better, np.nan) if isinstance(rule, Onset) else better


def contradicts(rule: Onset | Choice | Level, arm: str, value: Value, panel: Panel) -> bool:
    """Whether the value chooses, at any measured cell, an arm that is worse there, decided as in the ratios."""
    if isinstance(rule, Level) or len(panel.measured([arm, default_of(rule)])) < 2:
        return False
    side = sides(estimate(panel.better[arm] - panel.better[default_of(rule)]).with_bias(panel.bias))
    chosen = panel.x >= float(value) if isinstance(rule, Onset) else np.full(panel.x.shape, True)
    return bool((side[chosen] < 0).any() or (side[~chosen] > 0).any())


def effects(setting: Setting, row: Row, decided: Evidence, others: Iterable[Evidence]) -> Iterator[Row]:
    """The effects of a recommended row other than its gain, as entries of the column `effects`."""
    rule, value = setting.rule, json.loads(row["value"])
    if isinstance(rule, Onset) and decided.panel.measured([rule.shipped]):
        yield _effect(decided, rule.shipped, _against_shipped(rule, row["arm"], value, decided.panel))
    for other in others:
        if other.beside(decided) or (other.decides and other.aim != decided.aim):
            d = change(rule, row["arm"], value, other.panel)
            if not np.isnan(d).all():
                yield _effect(other, row["default"], d)


def _against_shipped(rule: Onset, arm: str, value: float, panel: Panel) -> Floats:
    """Like `change`, but compared with the library's own threshold instead of the default arm."""
    set_to = np.where(panel.x >= value, panel.better[arm], panel.better[rule.other])
    differs = (panel.x >= value) != (panel.x >= rule.shipped_from)
    return np.where(differs, set_to - panel.better[rule.shipped], np.nan)


def _effect(of: Evidence, over: str, d: Floats) -> Row:
    """One entry, from `d`, shape (launches, cells); without numbers if no cell changes."""
    panel = of.panel
    swept = panel.swept(d)
    entry: Row = {"aim": of.aim.name if of.decides else None, "over": over, "says": OPEN}
    entry |= {name: panel.facts[name] for name in ("experiment", "protocol", "metric", "axis_unit")}
    if np.isnan(swept).all():
        return entry
    (gain,) = gains(per_launch(swept)[:, np.newaxis], panel.bias)
    cells = panel.cells(swept)
    numbers = {"factor": gain.mean, "low": gain.low, "high": gain.high, "smallest_effect": panel.bias}
    entry |= {name: float(np.exp(number)) for name, number in numbers.items() if not np.isnan(number)}
    return entry | {"from": float(cells.min()), "to": float(cells.max()), "says": gain.verdict}


def serves(effect: Row, evidence: Evidence) -> bool:
    """Whether an effect is a gain for this evidence's aim."""
    names = ("experiment", "protocol", "metric")
    here = all(effect[name] == evidence.panel.facts[name] for name in names)
    return here and effect["aim"] == evidence.aim.name and effect["says"] == BETTER
