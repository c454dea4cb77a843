"""Writes the tables of an experiment from its measurements, and joins them into the tables of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
import pyarrow as pa

from crossover.analyse.curves.curve import NAMES, Curve, curves
from crossover.analyse.curves.medians import medians
from crossover.analyse.curves.rounds import Blocks, blocks
from crossover.analyse.tables.per_curve import DERIVED
from crossover.analyse.tables.per_round import WITHIN
from crossover.records import failure, record

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
    "groups": record.GROUPS,
    "fits": record.FITS,
    "needs": record.NEEDS,
    "steady": record.STEADY,
}
"""Every table of an experiment, which a run has too, by file name."""

Rows: TypeAlias = pd.DataFrame | Iterable[dict[str, Any]]

WHOLE = {"claims": record.CLAIMS, "recommendations": record.RECOMMENDATIONS}
"""Tables that only a run has."""


def derive(folder: Path) -> None:
    """Write the medians of the measurements in `folder`, and all estimates from them, to the same folder.

    A table that fails is empty, with the reason in its metadata. Raises RecordError for a file of `folder` that cannot
    be read or written.
    """

    @cache
    def inside() -> Blocks:
        return blocks(_whole("measurements", folder))

    @cache
    def found() -> pd.DataFrame:
        return medians(inside())

    @cache
    def every() -> list[Curve]:
        return list(curves(found()))

    @cache
    def launches() -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = _whole("launches", folder).to_pylist()
        return rows

    made: dict[str, Callable[[], Rows]] = {
        "medians": found,
        **{name: partial(lambda of: of(every()), of) for name, of in DERIVED.items()},
        **{name: partial(lambda of: of(inside(), launches()), of) for name, of in WITHIN.items()},
    }
    for name, rows in made.items():
        table = TABLES[name].empty_table()
        with failure.caught("table", name, folder.name) as failures:
            table = _table(rows(), name)
        record.write(table, folder / f"{name}.parquet", failure.stored(failures))


def join(folders: list[Path], results: Path) -> None:
    """Write each of TABLES to `results`, the rows of all experiments' `folders` together."""
    for name, schema in TABLES.items():
        paths = [folder / f"{name}.parquet" for folder in sorted(folders)]
        parts = [record.read(path, schema).replace_schema_metadata() for path in paths]
        whole = pa.concat_tables([schema.empty_table(), *parts]).combine_chunks()
        failures = [each for path in paths for each in failure.of(path)]
        record.write(whole, results / f"{name}.parquet", failure.stored(failures))


def _whole(name: str, folder: Path) -> pa.Table:
    """A table of `folder`. Raises failure.InputError if it failed."""
    path = folder / f"{name}.parquet"
    failure.require(failure.of(path), [folder.name], [name])
    return record.read(path, TABLES[name])


def _table(rows: Rows, name: str) -> pa.Table:
    """The `rows` as the table `name`, sorted by curve, level, place and launch; NaN becomes null."""
    schema = TABLES[name]
    order = [*NAMES, *(column for column in ("level", "segment", "x", "group", "launch") if column in schema.names)]
    frame = pd.DataFrame(rows, columns=schema.names).sort_values(order, kind="stable")
    return pa.Table.from_pandas(frame, schema, preserve_index=False)
