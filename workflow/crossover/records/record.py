"""The schemas of all parquet files, and the functions that write and read them.

A raw file holds the blocks of one launch, or no block and the reason (a *hole*). The analysis derives all other tables.
The schemas below are the project's public interface: columns may be added, but existing columns stay, except those of
RENAMED. `docs/data.md` explains each column. A table with a `protocol` also has a column for each of protocol.KEYS.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crossover.design.protocol import KEYS
from crossover.errors import CrossoverError
from crossover.records import atomic, json_text

VERSION = 2
"""Version of the schemas that this code reads and writes."""

SHARE = ""
"""The unit of a share of a whole, such as an efficiency: above 0 and at most 1."""

FACTOR = "times"
"""The unit of a factor over a lower bound: at least 1."""

SIGNIFICANCE = 0.05
"""Level of all significance tests behind the tables."""

CONFIDENCE = 1 - SIGNIFICANCE
"""Confidence of all intervals in the tables."""

ARROW: dict[type, pa.DataType] = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}


def _schema(strings: str = "", integers: str = "", numbers: str = "", flags: str = "") -> pa.Schema:
    kinds: tuple[tuple[str, type], ...] = ((strings, str), (integers, int), (numbers, float), (flags, bool))
    columns = [(name, kind) for names, kind in kinds for name in names.split()]
    if "protocol" in strings.split():
        columns += [(name, key.kind) for name, key in KEYS.items()]
    return pa.schema([(name, ARROW[kind]) for name, kind in columns])


MEASUREMENTS = _schema(
    strings="experiment placement protocol arm runs reference axis axis_unit metric unit better levels validity stop",
    integers="launch round position n start_ns",
    numbers="x value block_seconds",
    flags="is_null_arm ceiling",
)
"""One row per metric of a block. `value` is null if the block was not valid; `validity` says why."""

LAUNCHES = _schema(
    strings="experiment placement outcome hole reason file receipt started_utc settings code commit host hosts job "
    "phases",
    integers="launch ranks",
    numbers="queued_seconds entering_seconds meeting_seconds wall_seconds timed_seconds",
    flags="exclusive",
)
"""One row per launch. `outcome` is `measured` or `hole`; for a hole, `hole` is its kind and `reason` its reason."""

RANKS = _schema(
    strings="experiment placement host interface address cpu affinity governor kernel os network python libraries mpi "
    "slurm container variables tuning",
    integers="launch rank logical_cpus memory_bytes",
    numbers="load",
)
"""One row per rank of a launch, as gathered on that rank. The columns of ENCODED are JSON."""

MEDIANS = _schema(
    strings="experiment placement protocol arm reference axis axis_unit metric unit better levels",
    integers="launch rounds pairs",
    numbers="x value ratio",
    flags="is_null_arm ceiling",
)
"""One row per launch, arm and cell: the medians over rounds, from which all later tables are estimated."""

SUMMARY = _schema(
    strings="experiment placement protocol arm axis axis_unit metric unit better",
    integers="launches rounds",
    numbers="x median low high",
    flags="is_null_arm ceiling",
)
"""One row per arm and cell: the geometric mean over launches of the median over rounds. No interval: low, high null."""

RATIOS = _schema(
    strings="experiment placement protocol metric arm reference verdict axis axis_unit better",
    integers="launches rounds launches_needed",
    numbers="x ratio low high smallest_effect",
    flags="is_null_arm ceiling",
)
"""One row per arm and cell: the arm's value divided by the reference's. `verdict` (records.outcome): only of rivals."""

CROSSOVERS = _schema(
    strings="experiment placement protocol metric arm reference verdict axis axis_unit better",
    integers="launches",
    numbers="x low high bracket_low bracket_high",
)
"""One row per arm and curve: the point where its ratio passes 1 (docs/data.md, Crossover verdicts)."""

THRESHOLDS = _schema(
    strings="experiment placement protocol metric arm verdict axis axis_unit better",
    integers="launches",
    numbers="level x low high bracket_low bracket_high",
    flags="is_null_arm ceiling",
)
"""One row per arm, curve and level of the metric: the threshold, from which the level is reached."""

SENSITIVITY = _schema(
    strings="experiment placement protocol metric arm reference",
    integers="launches cells null_cells",
    numbers="smallest_effect resolution",
)
"""One row per arm and curve: the possible bias and the precision, as ratios of at least 1."""

CHOICES = _schema(
    strings="experiment placement protocol metric choice verdict left candidates next axis axis_unit unit better",
    integers="launches launches_needed",
    numbers="x guarantee value low high factor factor_low factor_high begins begins_low begins_high",
)
"""One row per question and point: the arm to choose, and the most that this can cost. `verdict`: records.outcome."""

HOSTS = _schema(
    strings="experiment placement protocol metric host verdict axis axis_unit better",
    integers="launches_with launches_without",
    numbers="x_from x_to factor low high p smallest_effect",
)
"""One row per host, panel and half of the axis: the factor by which launches with the host are worse than others."""

CLAIMS = _schema(
    strings="claim source quote locator url says test contradicts kind experiment placement protocol metric arm "
    "verdict reason method differs unit scale axis_unit own rows",
    integers="launches numbers",
    numbers="value low high expected_low expected_high published claimed_low claimed_high own_value own_x x "
    "smallest_effect resolution",
    flags="derived at_least at_most",
)
"""One row per published claim. `verdict` (docs/data.md, Claim verdicts) has a `reason`."""

RECOMMENDATIONS = _schema(
    strings="library setting about value reason snippet experiment placement protocol metric arm default axis "
    "axis_unit unit better points",
    integers="launches",
    numbers="x low high guarantee guarantee_of_values gain_low gain_high",
    flags="recommended",
)
"""One row per setting and question: the value, its guarantee and gain; or why nothing is recommended."""

CHANGES = _schema(
    strings="experiment placement protocol metric arm reference axis axis_unit better verdict",
    integers="launches_before launches_after",
    numbers="x before after change low high p q within",
    flags="is_null_arm ceiling equivalent",
)
"""One row per arm and curve that two runs share, without `x`, and one per cell: the ratio after, over that before."""

UNPAIRED = _schema(strings="experiment placement protocol metric arm run reason", numbers="x")
"""One row per curve, or cell of a curve, that only one of two runs has, or that cannot be compared."""

DIFFERENCES = _schema(strings="kind name before after")
"""One row per fact of software, machine and settings that differs between two runs."""


ENCODED: dict[str, type] = {
    **dict.fromkeys(["levels", "contradicts", "rows", "left"], list),
    **dict.fromkeys(["settings", "phases", "libraries", "network", "slurm", "variables", "tuning"], dict),
    **dict.fromkeys(["points", "entrant_options", "candidates"], dict),
}
"""Columns of text that hold JSON, with the type of its value."""


def schemas(tables: str) -> dict[str, pa.Schema]:
    """The schemas above by the names of their tables, which are those of the files too, such as `launches ranks`."""
    return {name: globals()[name.upper()] for name in tables.split()}


LATER = {*KEYS, "variables", "tuning"}
"""Columns that earlier releases did not record."""

RENAMED = {"null": "is_null_arm"}
"""Columns that earlier releases wrote under another name. In SQL, `null` is a word of the language."""

CHECKSUM = b"digest"
"""The key of the checksum in a file's metadata."""

DAMAGE = (OSError, pa.ArrowException, ValueError, TypeError, LookupError, ArithmeticError)
"""The errors that a single flipped bit can raise while a file is read."""


class RecordError(CrossoverError):
    """A file that cannot be read, or whose content contradicts itself; the message names it and the next step."""

    def __init__(self, file: Path, fault: str, remedy: str = "delete it and run again"):
        # Messages of libraries can have several lines.
        self.fault = " ".join(fault.split())
        super().__init__(f"{file}: {self.fault}; {remedy}")


def from_rows(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """The rows as a table of this schema; a missing value and NaN become null."""
    columns = [pa.array([row.get(each.name) for row in rows], each.type, from_pandas=True) for each in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def write(table: pa.Table, path: Path, metadata: Mapping[str, Any] | None = None) -> None:
    """Write `table` to `path`, whole or not at all.

    `metadata` values are stored as JSON. The same input gives the same bytes. Rows and metadata have a
    checksum, by which `read` notices damage, and each page of rows has its own. Raises CrossoverError if writing fails.
    """
    stored = {"crossover": VERSION} | dict(metadata or {})
    encoded = {key.encode(): json.dumps(value, sort_keys=True).encode() for key, value in sorted(stored.items())}
    encoded[CHECKSUM] = _checksum(encoded, table)
    with atomic.replacing(path) as part:
        pq.write_table(table.replace_schema_metadata(encoded), part, compression="zstd", write_page_checksum=True)
        if pq.read_metadata(part).num_rows != table.num_rows:
            raise RecordError(part, "has fewer rows than written", "check whether the file system is full")


def opened(path: Path) -> pq.ParquetFile:
    """The file, with the checksums of its pages checked as they are read. Raises one of DAMAGE."""
    return pq.ParquetFile(atomic.regular(path), page_checksum_verification=True)


def stored(path: Path) -> dict[bytes, bytes]:
    """The metadata of a file, unchecked. Raises one of DAMAGE."""
    with opened(path) as file:
        return file.schema_arrow.metadata or {}


def read(path: Path, schema: pa.Schema) -> pa.Table:
    """The table at `path`, with `schema`'s columns in its order.

    A column of RENAMED gets its new name, and one of LATER that the file lacks is null. Raises RecordError if the file
    cannot be read, is damaged, has another version, lacks another column, or has one of another type.
    """
    try:
        # Not pq.read_table: that imports pandas, which takes longer than reading most tables.
        with opened(path) as file:
            table = file.read()
        stored = table.schema.metadata or {}
        wrong = stored.get(CHECKSUM) != _checksum(stored, table)
    except DAMAGE as error:
        raise RecordError(path, f"cannot be read as parquet ({error})") from error
    # As bytes, because metadata of a foreign file may not be JSON.
    version = stored.get(b"crossover", b"none").decode(errors="replace")
    if version != str(VERSION):
        raise RecordError(path, f"has schema version {version}, this code reads {VERSION}", "measure again")
    if wrong:
        raise RecordError(path, "is damaged, because it has a wrong checksum")
    table = table.rename_columns([RENAMED.get(name, name) for name in table.column_names])
    # Because renaming drops it.
    table = table.replace_schema_metadata(stored)
    missing = [name for name in schema.names if name not in table.column_names]
    if lacking := [name for name in missing if name not in LATER]:
        raise RecordError(path, f"lacks the columns {', '.join(lacking)}")
    for name in missing:
        table = table.append_column(schema.field(name), pa.nulls(table.num_rows, schema.field(name).type))
    try:
        found = table.select(schema.names).cast(schema.with_metadata(table.schema.metadata))
    except pa.ArrowException as error:
        raise RecordError(path, f"has a column of another type ({error})") from error
    try:
        for key, value in stored.items():
            if _is_checked(key):
                json_text.parse(value)
        return typed(found)
    except ValueError as error:
        raise RecordError(path, f"has a damaged value ({error})") from error


def typed(table: pa.Table) -> pa.Table:
    """The same table. Raises ValueError if a column of ENCODED holds something else."""
    # A recommended value is a number or a text; in other tables, a `value` is no JSON.
    encoded = ENCODED | ({"value": object} if "recommended" in table.column_names else {})
    for name in encoded.keys() & {each.name for each in table.schema if each.type == pa.string()}:
        for text in pc.unique(table[name].drop_null()).to_pylist():
            try:
                json_text.parse(text, encoded[name])
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
    return table


def metadata(table: pa.Table) -> dict[str, Any]:
    """The metadata stored beside the rows."""
    stored = table.schema.metadata or {}
    return {key.decode(): json.loads(value) for key, value in stored.items() if _is_checked(key)}


def _checksum(stored: Mapping[bytes, bytes], table: pa.Table) -> bytes:
    """The checksum of a table with this metadata, as stored."""
    own = sorted((key, value) for key, value in stored.items() if _is_checked(key))
    found = hashlib.sha256(repr((own, table.schema.names, list(map(str, table.schema.types)))).encode())
    for column in table.columns:
        values = column.combine_chunks()
        found.update(values.is_valid().to_numpy(zero_copy_only=False))
        if pa.types.is_string(values.type):
            # A hundred times as fast as a list of all texts, because few differ.
            coded = values.dictionary_encode()
            found.update(repr(coded.dictionary.to_pylist()).encode())
            values = coded.indices
        if not pa.types.is_null(values.type):
            # Whatever a file holds in place of a missing value.
            numbers = values.fill_null(False if pa.types.is_boolean(values.type) else 0)
            found.update(numbers.to_numpy(zero_copy_only=False))
    return json.dumps(found.hexdigest()).encode()


def _is_checked(key: bytes) -> bool:
    """Whether an entry of the metadata is part of the checksum."""
    return key not in (b"pandas", CHECKSUM)
