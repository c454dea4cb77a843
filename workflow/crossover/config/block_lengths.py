"""How far blocks agreed with longer ones, from `config/block_lengths.csv`, which `make bench-blocks` writes."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from crossover.paths import CONFIG

FILE = CONFIG / "block_lengths.csv"


@dataclass(frozen=True)
class Held:
    """Blocks of one arm in one cell, held against long blocks of the same rounds."""

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
    """What a long block gave, divided by what a short one gave."""
    low: float
    high: float
    """The ends of the ratio's interval over launches, of 95 %."""
    date: str

    @property
    def key(self) -> tuple[str, str, float, str, str]:
        """What is one row's alone."""
        return self.experiment, self.protocol, self.x, self.metric, self.arm


def read(file: Path = FILE) -> list[Held]:
    """Every row, in the file's order; none without a file."""
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as stream:
        return [_row(line) for line in csv.DictReader(stream)]


def _row(line: dict[str, str]) -> Held:
    numbers = {name: float(line[name]) for name in ("x", "block_seconds", "long_seconds", "ratio", "low", "high")}
    return Held(**{**line, **numbers, "launches": int(line["launches"])})  # type: ignore[arg-type]
