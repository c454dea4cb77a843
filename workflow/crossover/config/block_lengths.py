"""Comparisons of short with long blocks, from `config/block_lengths.csv`, which `make bench-blocks` writes."""

import math
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from crossover.paths import CONFIG

FILE = CONFIG / "block_lengths.csv"

DETECTABLE = 0.1
"""The file has only ratios whose interval would exclude 1 if they differed by this much; others decide nothing."""


@dataclass(frozen=True)
class LongBlock:
    """Long blocks of one arm in one cell, compared with its short blocks of the same rounds."""

    experiment: str
    protocol: str
    x: float
    metric: str
    arm: str
    axis_unit: str
    block_seconds: float
    long_seconds: float
    launches: int
    ratio: float
    """The value of a long block divided by that of a short one."""
    low: float
    high: float
    """The ends of the ratio's 95 % interval over launches."""
    date: str

    @property
    def detectable(self) -> float:
        """The smallest difference that the interval would show."""
        return math.sqrt(self.high / self.low) - 1


def read(file: Path = FILE) -> list[LongBlock]:
    """Every row, in the file's order."""
    rows = pd.read_csv(file, dtype={"x": float}, keep_default_na=False)
    return [LongBlock(*row) for row in rows.itertuples(index=False)]
