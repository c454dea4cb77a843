"""The effects of a recommended value on the metrics of all aims, and on further metrics of the same curves."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from crossover.analyse.advice.settings import Aim, Choice, Level, Onset, Setting, Value
from crossover.analyse.curves.panel import Panel
from crossover.analyse.estimators.gain import gains, per_launch
from crossover.analyse.statistics.intervals import Floats
from crossover.records.record import SIGNIFICANCE

Row = dict[str, Any]


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


def change(rule: Onset | Choice | Level, arm: str, value: Value, panel: Panel) -> Floats:
    """The logarithm of the factor by which a panel's metric is better with the value than with the default.

    Shape (launches, cells); NaN for cells where the value changes nothing, and everywhere if an arm is missing.
    """
    default = rule.default if isinstance(rule, Choice) else rule.other if isinstance(rule, Onset) else arm
    if isinstance(rule, Level) or len(panel.measured([arm, default])) < 2:
        return np.full((len(panel.launches), len(panel.x)), np.nan)
    better = panel.better[arm] - panel.better[default]
    return np.where(panel.x >= float(value), better, np.nan) if isinstance(rule, Onset) else better


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
    entry: Row = {"aim": of.aim.name if of.decides else None, "over": over, "says": "not shown"}
    entry |= {name: panel.facts[name] for name in ("experiment", "protocol", "metric", "axis_unit")}
    if np.isnan(swept).all():
        return entry
    (gain,) = gains(per_launch(swept)[:, np.newaxis], panel.smallest_effect)
    cells = panel.cells(swept)
    numbers = {"factor": gain.mean, "low": gain.low, "high": gain.high, "smallest_effect": panel.smallest_effect}
    entry |= {name: float(np.exp(number)) for name, number in numbers.items() if not np.isnan(number)}
    entry |= {"from": float(cells.min()), "to": float(cells.max())}
    if not np.isnan(panel.smallest_effect) and gain.p <= SIGNIFICANCE:
        entry["says"] = "better" if gain.mean > 0 else "worse"
    return entry


def serves(effect: Mapping[str, Any], evidence: Evidence) -> bool:
    """Whether an effect is a gain for this evidence's aim."""
    names = ("experiment", "protocol", "metric")
    here = all(effect[name] == evidence.panel.facts[name] for name in names)
    return here and effect["aim"] == evidence.aim.name and effect["says"] == "better"
