"""From the raw files of an experiment's launches to its measurements, launches and ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from crossover import record

SCHEMAS = {"launches": record.LAUNCHES, "ranks": record.RANKS}


def gather(raw: list[Path], folder: Path) -> None:
    """Write the measurements, launches and ranks of the `raw` files to `folder`."""
    for name, table in gathered(raw).items():
        record.write(table, folder / f"{name}.parquet")


def gathered(raw: list[Path]) -> dict[str, pa.Table]:
    """The measurements, launches and ranks of the `raw` files, one launch each.

    Raises RecordError for a file that cannot be believed. The order of `raw` does not matter.
    """
    blocks, launches, ranks = [], [], []
    files: dict[tuple[str, str, int], Path] = {}
    for path in raw:
        table = record.read(path, record.MEASUREMENTS)
        launch, its_ranks = _told(path, table)
        _refuse_impossible(path, table)
        key = (launch["experiment"], launch["placement"], launch["launch"])
        if key in files:
            raise record.RecordError(f"{path}: is the same launch as {files[key]}; delete one of them")
        files[key] = path
        which = {name: launch[name] for name in ("experiment", "placement", "launch")}
        blocks.append((key, table.replace_schema_metadata()))
        launches.append((key, [launch | {"file": str(path)}]))
        ranks.append((key, [rank | which for rank in its_ranks]))
    tables = {}
    for name, rows in (("launches", launches), ("ranks", ranks)):
        flat = [row for _, part in sorted(rows, key=lambda entry: entry[0]) for row in part]
        tables[name] = pa.Table.from_pylist(flat, SCHEMAS[name])
    blocks.sort(key=lambda entry: entry[0])
    whole = pa.concat_tables([record.MEASUREMENTS.empty_table(), *(table for _, table in blocks)])
    return tables | {"measurements": whole.combine_chunks()}


def _told(path: Path, table: pa.Table) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What a raw file tells of its launch and of the launch's ranks."""
    facts = record.metadata(table)
    if not {"experiment", "placement", "launch"} <= set(facts.get("launch", {})):
        raise record.RecordError(f"{path}: does not say which launch it holds; delete it and run again")
    record.refuse_untrue(path, table)
    return facts["launch"], facts.get("ranks", [])


def _refuse_impossible(path: Path, table: pa.Table) -> None:
    value = table["value"].drop_null()
    possible = pc.and_(pc.is_finite(value), pc.greater(value, 0))
    if not pc.all(possible, min_count=0).as_py():
        wrong = value.filter(pc.invert(possible))[0].as_py()
        raise record.RecordError(
            f"{path}: holds the value {wrong}, which no measurement gives; delete it and run again"
        )
