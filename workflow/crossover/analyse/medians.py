"""From blocks to what each launch found in each cell: medians over rounds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from crossover.analyse.curves import FACTS, NAMES, PANEL


def medians(table: pa.Table) -> pd.DataFrame:
    """The rows of record.MEDIANS, in no order, from a table of record.MEASUREMENTS."""
    blocks, facts = _blocks(table)
    cell = ["curve", "x", "launch"]
    values = blocks.groupby(cell)["log"].agg(value="median", rounds="size")
    ratios = _paired(blocks, facts).groupby(cell)["log"].agg(ratio="median", pairs="size")
    cells: pd.DataFrame = values.join(ratios).fillna({"pairs": 0}).astype({"pairs": int}).reset_index()
    cells[["value", "ratio"]] = np.exp(cells[["value", "ratio"]])
    return cells.join(facts, on="curve")


def _blocks(table: pa.Table) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The sane blocks, as numbers alone, and the curves that they belong to.

    Blocks: curve, panel, x, launch, round, log (of the value). Curves: one row per curve, indexed by the
    number that the blocks know it by. Numbers instead of seven columns of text, because grouping a million
    rows by text takes as long as all the rest.
    """
    names = [*NAMES, *FACTS]
    sane = table.select([*names, "x", "launch", "round", "value"]).filter(pc.is_valid(table["value"]))
    texts = [name for name in names if name not in ("null", "ceiling")]
    frame = sane.to_pandas(categories=texts)
    groups = {"observed": True, "dropna": False, "sort": False}
    blocks = pd.DataFrame(
        {
            "curve": frame.groupby(NAMES, **groups).ngroup(),
            "panel": frame.groupby(PANEL, **groups).ngroup(),
            "x": frame["x"],
            "launch": frame["launch"],
            "round": frame["round"],
            "log": np.log(frame["value"]),
        }
    )
    first = ~blocks["curve"].duplicated()
    facts = frame.loc[first, names].astype({name: object for name in texts}).set_axis(blocks.loc[first, "curve"])
    return blocks, facts


def _paired(blocks: pd.DataFrame, facts: pd.DataFrame) -> pd.DataFrame:
    """The log ratios of the arms to the reference of the same round; rounds that lack either are left out."""
    reference = blocks["curve"].map(facts["arm"] == facts["reference"]).astype(bool)
    same = ["panel", "launch", "x", "round"]
    pairs = blocks[~reference].merge(
        blocks.loc[reference, [*same, "log"]], on=same, suffixes=("", "_reference"), validate="many_to_one"
    )
    return pairs.assign(log=pairs["log"] - pairs["log_reference"])
