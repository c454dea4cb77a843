"""The valid blocks of an experiment, launch by launch and round by round, as numbers, and their medians over rounds."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from crossover.analyse.curves.curve import FACTS, NAMES, PANEL
from crossover.design.protocol import KEYS


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
    """The blocks of a table of record.MEASUREMENTS that have a value.

    Curves are numbered, because grouping a million rows by columns of text takes as long as all the rest.
    """
    names = [*NAMES, *FACTS]
    places = ["x", "launch", "round", "position", "start_ns"]
    valid = pc.is_valid(table["value"])
    texts = [name for name in names if name not in ("null", "ceiling")]
    frame = table.select([*names, *places, "value"]).filter(valid).to_pandas(categories=texts)
    groups = {"observed": True, "dropna": False, "sort": False}
    rows = frame[places].assign(
        curve=frame.groupby(NAMES, **groups).ngroup(),
        panel=frame.groupby(PANEL, **groups).ngroup(),
        log=np.log(frame["value"]),
    )
    first = ~rows["curve"].duplicated()
    curves = frame.loc[first, names].astype({name: object for name in texts}).set_axis(rows.loc[first, "curve"])
    # From one row per curve, because keys are the same along a curve, and a million rows take long.
    keys = table.select(list(KEYS)).take(np.flatnonzero(valid)[first.to_numpy()]).to_pylist()
    curves = curves.join(pd.DataFrame(keys, curves.index, list(KEYS), dtype=object))
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
