"""From the measurements of an experiment to its tables, and from these to the tables of a whole run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from crossover import record
from crossover.analyse.blocks import blocks
from crossover.analyse.curves import NAMES, curves
from crossover.analyse.medians import medians
from crossover.analyse.rows import DERIVED
from crossover.analyse.within import WITHIN

TABLES = {
    "measurements": record.MEASUREMENTS,
    "launches": record.LAUNCHES,
    "ranks": record.RANKS,
    "medians": record.MEDIANS,
    "summary": record.SUMMARY,
    "ratios": record.RATIOS,
    "crossovers": record.CROSSOVERS,
    "thresholds": record.THRESHOLDS,
    "sensitivity": record.SENSITIVITY,
    "fits": record.FITS,
    "needs": record.NEEDS,
    "steady": record.STEADY,
}
"""Every table that an experiment has, and the run of all of them together, by the name of its file."""

WHOLE = {"claims": record.CLAIMS, "recommendations": record.RECOMMENDATIONS}
"""Every table that only a run has."""


def derive(folder: Path) -> None:
    """Write the medians of the measurements in `folder`, and all that is estimated from them, beside them."""
    inside = blocks(record.read(folder / "measurements.parquet", record.MEASUREMENTS))
    found = medians(inside)
    _write_rows(found, "medians", folder)
    every = list(curves(found))
    for name, rows in DERIVED.items():
        _write_rows(rows(every), name, folder)
    launches = record.read(folder / "launches.parquet", record.LAUNCHES).to_pylist()
    for name, of_blocks in WITHIN.items():
        _write_rows(of_blocks(inside, launches), name, folder)


def join(folders: list[Path], results: Path) -> None:
    """Write each of TABLES to `results`, the rows of all experiments' `folders` together."""
    for name, schema in TABLES.items():
        parts = [record.read(folder / f"{name}.parquet", schema) for folder in sorted(folders)]
        _write_joined(parts, name, results)


def _write_joined(parts: list[pa.Table], name: str, folder: Path) -> None:
    whole = pa.concat_tables([TABLES[name].empty_table(), *(part.replace_schema_metadata() for part in parts)])
    record.write(whole.combine_chunks(), folder / f"{name}.parquet")


def _write_rows(rows: pd.DataFrame | Iterable[dict[str, Any]], name: str, folder: Path) -> None:
    """Write `rows` as the table `name`, sorted by curve, level, place and launch; NaN becomes null."""
    schema = TABLES[name]
    order = [*NAMES, *(column for column in ("level", "segment", "x", "launch") if column in schema.names)]
    frame = pd.DataFrame(rows, columns=schema.names).sort_values(order, kind="stable")
    record.write(pa.Table.from_pandas(frame, schema, preserve_index=False), folder / f"{name}.parquet")
