"""The arms of one metric under one protocol and placement, on the same launches and cells."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from crossover.analyse.curves.curve import PANEL, Curve
from crossover.analyse.statistics.intervals import Floats
from crossover.design import protocol
from crossover.design.settings import read_settings
from crossover.planning.plan import SECOND_SWEEP


@dataclass(frozen=True)
class Panel:
    """The arms of one metric, as logarithms that can be subtracted from each other."""

    facts: dict[str, Any]
    """The columns of PANEL, the axis and its unit, and the keys."""
    launches: list[int]
    x: Floats
    """The cells, rising, in `axis_unit`."""
    better: dict[str, Floats]
    """By arm, the logarithm of the factor by which it is better than the reference, shape (launches, cells)."""
    thresholds: list[dict[str, Any]]
    """The panel's rows of record.THRESHOLDS."""
    bias: float
    """The possible bias, as a logarithm; NaN if unknown."""
    configured: frozenset[str]
    """The arms in the settings of the experiment's launches."""

    def swept(self, d: Floats) -> Floats:
        """The rows of `d`, shape (launches, cells), of the first sweep, because a second does not cover the axis."""
        return d[np.array(self.launches) <= SECOND_SWEEP]

    def cells(self, d: Floats) -> Floats:
        """The cells of the axis that any launch of `d`, shape (launches, cells), measured."""
        return self.x[~np.isnan(d).all(axis=0)]

    def measured(self, arms: Iterable[str]) -> list[str]:
        """The `arms` that have a value here."""
        return [arm for arm in arms if arm in self.better and not np.isnan(self.better[arm]).all()]


def panels(
    curves: Iterable[Curve], thresholds: pd.DataFrame, sensitivity: pd.DataFrame, launches: pd.DataFrame
) -> Iterator[Panel]:
    """The panels of a run's curves, sorted by their names; the other arguments are the tables of these names."""
    effects = sensitivity.groupby(["experiment", "placement", "metric"])["smallest_effect"].first()
    reached = {name: rows.to_dict("records") for name, rows in thresholds.groupby(PANEL)}
    configured = {
        name: frozenset(arm for settings in own for arm in read_settings(settings).get("arms", []))
        for name, own in launches.groupby("experiment")["settings"]
    }
    grouped: dict[tuple[str, ...], list[Curve]] = {}
    for curve in curves:
        grouped.setdefault(tuple(curve.facts[name] for name in PANEL), []).append(curve)
    for name, members in sorted(grouped.items()):
        own = members[0].facts
        facts = {column: own[column] for column in (*PANEL, "axis", "axis_unit")} | protocol.columns(own)
        numbers = sorted({number for curve in members for number in curve.launches})
        x = np.array(sorted({place for curve in members for place in curve.x}))
        smallest = effects.get((facts["experiment"], facts["placement"], facts["metric"]), np.nan)
        yield Panel(
            facts,
            numbers,
            x,
            {curve.facts["arm"]: advantage(curve, numbers, x) for curve in members},
            [{str(column): value for column, value in row.items()} for row in reached.get(name, [])],
            float(np.log(smallest)),
            configured.get(facts["experiment"], frozenset()),
        )


def advantage(curve: Curve, launches: Sequence[int], x: Floats) -> Floats:
    """A curve's log ratios to the reference, positive where it is better; zero for the reference itself."""
    is_reference = curve.facts["arm"] == curve.facts["reference"]
    sign = 1 if curve.facts["better"] == "higher" else -1
    ratios = np.where(np.isnan(curve.values), np.nan, 0.0) if is_reference else sign * curve.ratios
    whole = np.full((len(launches), len(x)), np.nan)
    whole[np.ix_(np.searchsorted(launches, curve.launches), np.searchsorted(x, curve.x))] = ratios
    return whole
