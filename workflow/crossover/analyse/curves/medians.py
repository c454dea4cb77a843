"""The medians over rounds of each launch in each cell."""

from __future__ import annotations

import numpy as np
import pandas as pd

from crossover.analyse.curves.rounds import Blocks


def medians(blocks: Blocks) -> pd.DataFrame:
    """The rows of record.MEDIANS, in no order."""
    found = blocks.rows.groupby("series").agg(
        value=("log", "median"), rounds=("log", "size"), ratio=("ratio", "median"), pairs=("ratio", "count")
    )
    found[["value", "ratio"]] = np.exp(found[["value", "ratio"]])
    return blocks.series.join(found).join(blocks.curves, on="curve")
