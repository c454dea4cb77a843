"""How many measurements of each arm were valid, and why the others were not: a small table in place of all rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from crossover.records.rows import Row

COUNTED = ["experiment", "placement", "protocol", "arm", "is_null_arm", "x", "validity", "stop"]
"""The columns of the table that name a row."""

CELL = ["experiment", "placement", "launch", "protocol", "x", "stop"]


@dataclass(frozen=True, kw_only=True)
class Validity(Row):
    """A validity of an arm's measurements at a point, over all launches, without the rows of pairs."""

    experiment: str
    placement: str
    protocol: str
    arm: str
    is_null_arm: bool
    x: float
    validity: str
    stop: str
    cells: int
    """Launches that stopped there for this reason; each counts in one of the rows of the point."""
    measurements: int
    valid: int
    """Those with a value."""


def count(measurements: pa.Table) -> pa.Table:
    """The rows of the table for each of some launches, from a table of record.MEASUREMENTS."""
    whole = measurements.filter(pc.is_null(measurements["first_rank"]))
    kinds = [*COUNTED, "launch"]
    groups = whole.select([*kinds, "value"]).group_by(kinds).aggregate([([], "count_all"), ("value", "count")])
    counted = _sorted(groups.rename_columns([*kinds, "measurements", "valid"]))
    number = pa.array(range(counted.num_rows), pa.int64())
    first = counted.append_column("number", number).group_by(CELL).aggregate([("number", "min")])
    is_first = pc.is_in(number, first["number_min"].combine_chunks())
    return counted.append_column("cells", is_first.cast(pa.int64())).select(Validity.schema().names)


def add_up(counts: Sequence[pa.Table]) -> pa.Table:
    """The rows of the table, sorted, from those of several launches."""
    schema = Validity.schema()
    every = pa.concat_tables([schema.empty_table(), *counts])
    sums = [name for name in schema.names if name not in COUNTED]
    groups = every.group_by(COUNTED).aggregate([(name, "sum") for name in sums])
    table = groups.rename_columns([*COUNTED, *sums]).select(schema.names).cast(schema)
    return _sorted(table)


def _sorted(counts: pa.Table) -> pa.Table:
    """Arrow groups in no certain order."""
    return counts.sort_by([(name, "ascending") for name in counts.column_names if name in (*COUNTED, "launch")])
