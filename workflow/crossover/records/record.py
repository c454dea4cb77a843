"""The schemas of all parquet files, and the functions that write and read them.

A raw file holds the blocks of one launch, or no block and the reason (a *hole*). The analysis derives all other tables.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from crossover.design.protocol import KEYS
from crossover.errors import CrossoverError
from crossover.records import atomic, json_text, rows
from crossover.records.validities import Validity

R = TypeVar("R", bound=rows.Row)

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

TABLES: dict[str, type[rows.Row]] = {
    "measurements": rows.Measurement,
    "launches": rows.Launch,
    "ranks": rows.Rank,
    "validities": Validity,
    "medians": rows.Median,
    "summary": rows.Summary,
    "ratios": rows.Ratio,
    "crossovers": rows.Crossover,
    "thresholds": rows.Threshold,
    "sensitivity": rows.Sensitivity,
    "choices": rows.Choice,
    "pairs": rows.Pair,
    "claims": rows.Claim,
    "recommendations": rows.Recommendation,
    "changes": rows.Change,
    "unpaired": rows.Unpaired,
    "differences": rows.Difference,
}
"""The rows of each table, by the name of its file."""

MEASUREMENTS = rows.Measurement.schema()
LAUNCHES = rows.Launch.schema()
RANKS = rows.Rank.schema()
VALIDITIES = Validity.schema()
MEDIANS = rows.Median.schema()
SUMMARY = rows.Summary.schema()
RATIOS = rows.Ratio.schema()
CROSSOVERS = rows.Crossover.schema()
THRESHOLDS = rows.Threshold.schema()
SENSITIVITY = rows.Sensitivity.schema()
CHOICES = rows.Choice.schema()
PAIRS = rows.Pair.schema()
CLAIMS = rows.Claim.schema()
RECOMMENDATIONS = rows.Recommendation.schema()
CHANGES = rows.Change.schema()
UNPAIRED = rows.Unpaired.schema()
DIFFERENCES = rows.Difference.schema()


JSON = {"settings": dict, "entrant_options": dict, "value": object}
"""The columns that hold JSON as text, with the type of its value. A `value` does in the table of recommendations only,
where it is a number or a text; in all others, it is a number."""


def schemas(tables: str) -> dict[str, pa.Schema]:
    """The schemas of some TABLES by their names, such as `launches ranks`."""
    return {name: TABLES[name].schema() for name in tables.split()}


LATER = {*KEYS, "variables", "tuning", "notes", "first_rank", "second_rank", "change"}
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
    columns = [_column(each, [row.get(each.name) for row in rows]) for each in schema]
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

    A column of RENAMED gets its new name, one of LATER that the file lacks is null, and one that earlier releases wrote
    as JSON is parsed. Raises RecordError if the file cannot be read, is damaged, has another version, lacks another
    column, or has one of another type.
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
        for each in schema:
            if pa.types.is_nested(each.type) and table[each.name].type == pa.string():
                # Few texts differ.
                coded = table[each.name].combine_chunks().dictionary_encode()
                column = _column(each, coded.dictionary.to_pylist()).take(coded.indices)
                table = table.set_column(table.column_names.index(each.name), each, column)
        found = table.select(schema.names).cast(schema.with_metadata(table.schema.metadata))
        for key, value in stored.items():
            if _is_checked(key):
                json_text.parse(value)
        return typed(found)
    except pa.ArrowException as error:
        raise RecordError(path, f"has a column of another type ({error})") from error
    except ValueError as error:
        raise RecordError(path, f"has a damaged value ({error})") from error


def rows_of(path: Path, kind: type[R]) -> list[R]:
    """The rows of the table at `path`. Raises RecordError as `read`."""
    return [kind.of(columns) for columns in read(path, kind.schema()).to_pylist()]


def typed(table: pa.Table) -> pa.Table:
    """The same table. Raises ValueError if a column of JSON holds something else."""
    for name in JSON.keys() & {each.name for each in table.schema if each.type == pa.string()}:
        for text in pc.unique(table[name].drop_null()).to_pylist():
            try:
                json_text.parse(text, JSON[name])
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
    return table


def metadata(table: pa.Table) -> dict[str, Any]:
    """The metadata stored beside the rows."""
    stored = table.schema.metadata or {}
    return {key.decode(): json.loads(value) for key, value in stored.items() if _is_checked(key)}


def _column(field: pa.Field, values: Sequence[Any]) -> pa.Array:
    """The values of a column; those of a nested one can be JSON, as earlier releases wrote them. Raises ValueError."""
    if not pa.types.is_nested(field.type):
        return pa.array(values, field.type, from_pandas=True)
    try:
        parsed = (json_text.parse(each, dict | list) if isinstance(each, str) else each for each in values)
        # The candidates of earlier releases are an object.
        pairs = [[*each.items()] if isinstance(each, dict) else each for each in parsed]
        return pa.array(pairs, field.type, from_pandas=True)
    except DAMAGE as error:
        raise ValueError(f"{field.name}: {error}") from None


def _checksum(stored: Mapping[bytes, bytes], table: pa.Table) -> bytes:
    """The checksum of a table with this metadata, as stored."""
    own = sorted((key, value) for key, value in stored.items() if _is_checked(key))
    found = hashlib.sha256(repr((own, table.schema.names, list(map(_type, table.schema.types)))).encode())
    for column in table.columns:
        for part in _content(column.combine_chunks()):
            found.update(part)
    return json.dumps(found.hexdigest()).encode()


def _content(values: pa.Array) -> Iterator[bytes | memoryview]:
    """What a checksum covers of a column, whatever a file holds in place of a missing value."""
    if pa.types.is_map(values.type):
        values = values.cast(pa.list_(values.type.field(0).type))
    valid = _bytes(values.is_valid())
    yield valid.data
    if pa.types.is_list(values.type):
        parts = {"length": pc.list_value_length(values), "element": values.flatten()}
    elif pa.types.is_struct(values.type):
        parts = {each.name: part for each, part in zip(values.type, values.flatten(), strict=True)}
    else:
        parts = {}
        if pa.types.is_string(values.type):
            # A hundred times as fast as a list of all texts, because few differ.
            coded = values.dictionary_encode()
            yield repr(coded.dictionary.to_pylist()).encode()
            values = coded.indices
        if not pa.types.is_null(values.type):
            yield np.where(valid, _bytes(values), np.uint8(0)).data
    for name, part in parts.items():
        yield repr((name, _type(part.type))).encode()
        yield from _content(part)


def _type(kind: pa.DataType) -> int | str:
    """The type as part of a checksum; of a nested one, whose parts parquet renames, their number."""
    return kind.num_fields or str(kind)


def _bytes(values: pa.Array) -> NDArray[np.uint8]:
    """The bytes of numbers, shape (values, bytes of one). Arrow's own way to NumPy loads pandas, which takes long."""
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    width, content = values.type.bit_width // 8, values.buffers()[1]
    if content is None or not len(values):
        return np.zeros((len(values), width), np.uint8)
    every = np.frombuffer(content, np.uint8, len(values) * width, values.offset * width)
    return every.reshape(len(values), width)


def _is_checked(key: bytes) -> bool:
    """Whether an entry of the metadata is part of the checksum."""
    return key not in (b"pandas", CHECKSUM)
