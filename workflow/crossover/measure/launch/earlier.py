"""The paces of earlier launches, from their raw files."""

from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crossover.design.protocol import KEYS, identity
from crossover.measure.sampling.pace import Pace, Paces, Place
from crossover.records import record

CURVE = list(KEYS)
BLOCK = ["x", "runs", "n", "start_ns", "block_seconds"]

NEWEST = 8
"""The raw files that are read: launches differ in their arms and cells."""


def paces(folder: Path) -> Paces:
    """The paces in the newest raw files in `folder`; none without one.

    They only save time: the sampler checks each by its first block, so those of another machine or version do no harm.
    """
    found: dict[Place, Pace] = {}
    raws = sorted(folder.glob("launch=*.parquet"), key=lambda raw: raw.stat().st_mtime_ns)
    for raw in raws[-NEWEST:]:
        # Not record.read, whose checksum imports pandas: this process's memory is measured.
        with suppress(*record.DAMAGE), pq.ParquetFile(raw) as file:
            table = file.read([*CURVE, *BLOCK, "value"], use_threads=False)
            found |= _paces(table.filter(pc.is_valid(table["value"])))
    return found


def _paces(rows: pa.Table) -> dict[Place, Pace]:
    keys, blocks = (rows.select(names).to_pydict().values() for names in (CURVE, BLOCK))
    cells = defaultdict[tuple[Any, ...], set[tuple[Any, ...]]](set)
    # A block has a row for each of its metrics.
    for names, (x, *block) in zip(zip(*keys, strict=True), zip(*blocks, strict=True), strict=True):
        cells[*names, x].add(tuple(block))
    found = {}
    for (*values, x), own in cells.items():
        curve = identity(dict(zip(CURVE, values, strict=True)) | {"protocol": ""})
        around = _around([start_ns / 1e9 for _, _, start_ns, _ in own], [seconds for *_, seconds in own])
        for alternative in {runs for runs, *_ in own}:
            # The median, because an interruption lasts longer than many a block.
            repetition = median(seconds / n for runs, n, _, seconds in own if runs == alternative)
            if repetition:
                found[curve, x, alternative] = Pace(repetition, around)
    return found


def _around(starts: list[float], seconds: list[float]) -> float:
    """The mean seconds of a cell's blocks besides their timed parts; a cell's rounds follow each other."""
    between = (max(starts) - min(starts)) / max(1, len(starts) - 1)
    return max(0.0, between - sum(seconds) / len(seconds))
