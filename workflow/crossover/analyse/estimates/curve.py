"""The blocks of an experiment as numbers, their medians over rounds, and curves: medians by launch and cell."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crossover.analyse.estimates.intervals import Floats
from crossover.design import protocol
from crossover.design.launch import MOST_LAUNCHES
from crossover.design.protocol import KEYS

Row = dict[str, Any]
"""A row of a table: values by the names of columns."""

PANEL = ["experiment", "placement", "protocol", "metric"]
NAMES = [*PANEL, "arm"]
"""The columns that identify a curve."""

FACTS = ["reference", "axis", "axis_unit", "unit", "better", "levels", "is_null_arm", "ceiling"]
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
        """The curve from launches of the whole axis only, in the cells that they measured.

        Those of earlier releases with larger numbers measured inside crossovers only, so they have no mean, slope or
        peak of the whole curve.
        """
        return self.of([number for number in self.launches if number <= MOST_LAUNCHES])

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
    return not (facts["is_null_arm"] or facts["ceiling"] or facts["arm"] == facts["reference"])


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


@dataclass(frozen=True)
class Blocks:
    """The blocks of every curve. A *series* is all blocks of one launch in one cell of one curve."""

    rows: pd.DataFrame
    """One row per block, sorted by series and round. `series`: its number, rising. `position`: its position in the
    round, from 0. `start_ns`: its start, on the launch's clock. `log`: logarithm of the value. `ratio`: logarithm of
    the value divided by the reference's of the same round. `opposite`: the position of the reference's block. Both are
    NaN for the reference itself, and in rounds without a valid block of the reference."""
    series: pd.DataFrame
    """One row per series, in the order of the numbers: `curve`, `x` and `launch`."""
    curves: pd.DataFrame
    """One row per curve, indexed by its number: the columns of NAMES and FACTS, and the keys."""


def blocks(table: pa.Table) -> Blocks:
    """The blocks of a table of record.MEASUREMENTS that have a value, without the rows of their pairs.

    Curves are numbered, because grouping a million rows by columns of text takes as long as all the rest.
    """
    names = [name for name in [*NAMES, *FACTS] if name != "levels"]
    places = ["x", "launch", "round", "position", "start_ns"]
    valid = pc.and_(pc.is_valid(table["value"]), pc.is_null(table["first_rank"]))
    texts = [name for name in names if name not in ("is_null_arm", "ceiling")]
    frame = table.select([*names, *places, "value"]).filter(valid).to_pandas(categories=texts)
    groups = {"observed": True, "dropna": False, "sort": False}
    rows = frame[places].assign(
        curve=frame.groupby(NAMES, **groups).ngroup(),
        panel=frame.groupby(PANEL, **groups).ngroup(),
        log=np.log(frame["value"]),
    )
    first = ~rows["curve"].duplicated()
    curves = frame.loc[first, names].astype({name: object for name in texts}).set_axis(rows.loc[first, "curve"])
    # From one row per curve, because levels and keys are the same along a curve, and a million rows take long.
    rest = ["levels", *KEYS]
    same = table.select(rest).take(np.flatnonzero(valid)[first.to_numpy()]).to_pylist()
    curves = curves.join(pd.DataFrame(same, curves.index, rest, dtype=object))
    rows = _paired(rows, curves).sort_values(["curve", "x", "launch", "round"], ignore_index=True)
    starts = (rows[["curve", "x", "launch"]].diff() != 0).any(axis=1)
    series = rows.loc[starts, ["curve", "x", "launch"]].reset_index(drop=True)
    rows["series"] = starts.cumsum() - 1
    return Blocks(rows[["series", "round", "position", "start_ns", "log", "ratio", "opposite"]], series, curves)


def medians(blocks: Blocks) -> pd.DataFrame:
    """The rows of record.MEDIANS, in no order."""
    found = blocks.rows.groupby("series").agg(
        value=("log", "median"), rounds=("log", "size"), ratio=("ratio", "median"), pairs=("ratio", "count")
    )
    found[["value", "ratio"]] = np.exp(found[["value", "ratio"]])
    return blocks.series.join(found).join(blocks.curves, on="curve")


def _paired(rows: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """The rows with the columns `ratio` and `opposite`."""
    same = ["panel", "launch", "x", "round"]
    own = rows["curve"].map(curves["arm"] == curves["reference"]).astype(bool)
    references = rows.loc[own, [*same, "log", "position"]].rename(columns={"log": "ratio", "position": "opposite"})
    paired = rows.merge(references, on=same, how="left", validate="many_to_one")
    # A left join keeps the order of the rows.
    paired.loc[own.to_numpy(), ["ratio", "opposite"]] = np.nan
    return paired.assign(ratio=paired["log"] - paired["ratio"])
