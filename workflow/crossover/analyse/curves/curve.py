"""A curve as the estimators take it: what each launch found in each cell, in logarithms."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from crossover.analyse.statistics.intervals import Floats
from crossover.planning.plan import SECOND_SWEEP
from crossover.records import protocol

PANEL = ["experiment", "placement", "protocol", "metric"]
NAMES = [*PANEL, "arm"]
"""Together these name a curve."""

FACTS = ["reference", "axis", "axis_unit", "unit", "better", "levels", "null", "ceiling"]
"""Columns that say more of a curve and are the same all along it."""


@dataclass(frozen=True)
class Curve:
    """One arm's medians over rounds, of one metric under one protocol and placement."""

    facts: dict[str, Any]
    """The columns of NAMES and FACTS, and the keys, None for those that the curve does not have."""
    launches: list[int]
    """The numbers of the launches, rising."""
    x: Floats
    """The cells, rising, in `axis_unit`."""
    values: Floats
    """Logarithms of the medians, shape (launches, cells); NaN where a launch has none."""
    ratios: Floats
    """Logarithms of the medians of the ratios to the reference, likewise; all NaN for the reference itself."""
    rounds: Floats
    """Rounds behind each value, likewise."""
    pairs: Floats
    """Rounds behind each ratio, likewise."""

    @property
    def swept(self) -> Curve:
        """The same of the launches of the first sweep, in the cells that they measured.

        Those of a second sweep look inside crossovers alone: of the whole curve they have no mean, slope or peak.
        """
        return self.of([number for number in self.launches if number <= SECOND_SWEEP])

    def of(self, launches: Collection[int]) -> Curve:
        """The same of some launches alone, in the cells that they measured; what else `launches` names is ignored."""
        rows = np.isin(self.launches, list(launches))
        cells = ~np.isnan(self.values[rows]).all(axis=0)
        parts = {name: getattr(self, name)[rows][:, cells] for name in ("values", "ratios", "rounds", "pairs")}
        kept = [number for number in self.launches if number in launches]
        return replace(self, launches=kept, x=self.x[cells], **parts)

    @property
    def competes(self) -> bool:
        """Whether this is an alternative; see `competes`."""
        return competes(self.facts)


def competes(facts: Mapping[str, Any]) -> bool:
    """Whether a curve of these facts is an alternative: no null arm beats itself, and no ceiling is beaten."""
    return not (facts["null"] or facts["ceiling"] or facts["arm"] == facts["reference"])


def curves(medians: pd.DataFrame) -> Iterator[Curve]:
    """The curves of a table of medians, sorted by their names."""
    columns = ["value", "ratio", "rounds", "pairs"]
    for _, rows in medians.groupby(NAMES, sort=True, observed=True):
        first = {str(name): value for name, value in rows.iloc[0].to_dict().items()}
        facts = {name: first[name] for name in (*NAMES, *FACTS)} | protocol.columns(first)
        wide = rows.pivot(index="launch", columns="x", values=columns)
        values, ratios, rounds, pairs = (wide[name].to_numpy(float) for name in columns)
        launches, x = [int(number) for number in wide.index], wide["value"].columns.to_numpy(float)
        yield Curve(facts, launches, x, np.log(values), np.log(ratios), rounds, pairs)
