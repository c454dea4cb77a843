"""A curve: the median of each launch in each cell, as a logarithm."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crossover.analyse.statistics.intervals import Floats
from crossover.design import protocol
from crossover.planning.plan import SECOND_SWEEP

Row = dict[str, Any]
"""A row of a table: values by the names of columns."""

PANEL = ["experiment", "placement", "protocol", "metric"]
NAMES = [*PANEL, "arm"]
"""The columns that identify a curve."""

FACTS = ["reference", "axis", "axis_unit", "unit", "better", "levels", "null", "ceiling"]
"""Further columns that are the same all along a curve."""


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
        """The curve from launches of the first sweep only, in the cells that they measured.

        A second sweep measures inside crossovers only, so it has no mean, slope or peak of the whole curve.
        """
        return self.of([number for number in self.launches if number <= SECOND_SWEEP])

    def of(self, launches: Collection[int]) -> Curve:
        """The curve from these launches only, in the cells that they measured; unknown numbers are ignored."""
        rows = np.isin(self.launches, list(launches))
        return self._part(rows, np.asarray(~np.isnan(self.values[rows]).all(axis=0)))

    def at(self, x: Floats) -> Curve:
        """The curve in the cells at `x` only."""
        return self._part(np.ones(len(self.launches), bool), np.isin(self.x, x))

    def _part(self, rows: NDArray[np.bool_], cells: NDArray[np.bool_]) -> Curve:
        parts = {name: getattr(self, name)[rows][:, cells] for name in ("values", "ratios", "rounds", "pairs")}
        kept = [number for number, belongs in zip(self.launches, rows, strict=True) if belongs]
        return replace(self, launches=kept, x=self.x[cells], **parts)

    @property
    def competes(self) -> bool:
        """Whether the arm competes; see `competes`."""
        return competes(self.facts)


def competes(facts: Mapping[str, Any]) -> bool:
    """Whether the arm of a curve with these facts competes: it is no null arm, no ceiling, and not the reference."""
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
