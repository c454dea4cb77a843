"""Gathers the raw files of an experiment into its tables of measurements, launches and ranks."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from crossover.analyse.curves.curve import Row
from crossover.planning import inventory
from crossover.records import failure, record
from crossover.records.holes import HoleKind

GATHERED = record.schemas("measurements launches ranks")
"""The tables with the content of the raw files."""

LAUNCH = ("experiment", "placement", "launch")
"""Columns that identify a launch of a run."""


def gather(raw: list[Path], folder: Path) -> None:
    """Write the measurements, launches and ranks of the `raw` files to `folder`.

    If that fails, the tables are empty, with the reason in their metadata. The table of launches also keeps the reason
    if the second sweep could not be planned. Raises RecordError for a file that is refused or cannot be written. A raw
    file that cannot be read is a hole.
    """
    tables = {name: schema.empty_table() for name, schema in GATHERED.items()}
    with failure.caught("table", "", folder.name) as failed:
        tables = gathered(raw)
    failures = {name: [replace(each, name=name) for each in failed] for name in GATHERED}
    for refinement in sorted({path.parents[1] / "refinement.json" for path in raw}):
        failures["launches"] += failure.of(refinement)
    for name, table in tables.items():
        record.write(table, folder / f"{name}.parquet", failure.stored(failures[name]))


def gathered(raw: list[Path]) -> dict[str, pa.Table]:
    """The measurements, launches and ranks of the `raw` files, one launch each.

    Raises RecordError for two files of one launch. The order of `raw` does not matter.
    """
    found: dict[tuple[Any, ...], tuple[pa.Table, Row, list[Row]]] = {}
    for path in raw:
        table, launch, ranks = _content(path)
        key = tuple(launch[name] for name in LAUNCH)
        if key in found:
            raise record.RecordError(path, f"is the same launch as {found[key][1]['file']}", "delete one of them")
        which = dict(zip(LAUNCH, key, strict=True))
        added = {"file": str(path), "hosts": ",".join(sorted({rank["host"] for rank in ranks})) or None}
        found[key] = table.replace_schema_metadata(), launch | added, [rank | which for rank in ranks]
    parts = [found[key] for key in sorted(found)]
    measurements = pa.concat_tables([record.MEASUREMENTS.empty_table(), *(table for table, _, _ in parts)])
    return {
        "measurements": measurements.combine_chunks(),
        "launches": record.from_rows([launch for _, launch, _ in parts], record.LAUNCHES),
        "ranks": record.from_rows([rank for _, _, ranks in parts for rank in ranks], record.RANKS),
    }


def _content(path: Path) -> tuple[pa.Table, Row, list[Row]]:
    """The rows, the launch and the ranks of a raw file; of one that is refused, the launch in its path as a hole."""
    try:
        table = record.read(path, record.MEASUREMENTS)
        facts = record.metadata(table)
        if not set(LAUNCH) <= set(facts.get("launch", {})):
            raise record.RecordError(path, "does not name its launch")
        refuse_impossible(path, table)
    except record.RecordError as error:
        hole = {"outcome": "hole", "hole": HoleKind.UNREADABLE, "reason": f"the file {error.fault}"}
        return record.MEASUREMENTS.empty_table(), inventory.launch_of(path) | hole, []
    return table, facts["launch"], facts.get("ranks", [])


def refuse_impossible(path: Path, table: pa.Table) -> None:
    """Raise RecordError for impossible values, and for placement `nodes` if all ranks ran on one host."""
    facts = record.metadata(table)
    hosts = {rank["host"] for rank in facts.get("ranks", [])}
    if facts["launch"]["placement"] == "nodes" and table.num_rows and len(hosts) < 2:
        raise record.RecordError(path, f"is of placement nodes, but every rank ran on {', '.join(sorted(hosts))}")
    value = table["value"].drop_null()
    possible = pc.and_(pc.is_finite(value), pc.greater(value, 0))
    if not pc.all(possible, min_count=0).as_py():
        wrong = value.filter(pc.invert(possible))[0].as_py()
        raise record.RecordError(path, f"has the impossible value {wrong}")
