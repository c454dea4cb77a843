"""Limits on bundles from others, checked before anything is unpacked, and before a table is read.

The largest honest bundle is that of tier paper: up to five thousand launches, each with a raw file of less than 1 MB,
the same rows once more in one table, and some thousand files beside them. Each limit is several times that.
"""

import io
import zipfile
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crossover.errors import CrossoverError

FILES = 100_000
"""The most files in a bundle."""

DIRECTORY_BYTES = 256 * FILES
"""The most bytes of a zip file's list of files: its names have about a hundred characters."""

FILE_BYTES = 16 << 30
"""The most bytes of one file, unpacked."""

TOTAL_BYTES = 64 << 30
"""The most bytes of all files, unpacked."""

LIST_BYTES = 64 << 20
"""The most bytes of the metadata and of the checksums, which are read into memory."""

SAMPLE_ROWS = 500_000_000
"""The most rows of the table of measurements: a hundred thousand for each of five thousand launches."""

ROWS = 5_000_000
"""The most rows of any other table: a thousand cells for each of five thousand launches. Pages hold them whole."""

TEXT_BYTES = 1 << 30
"""The most bytes of a column of texts, decoded."""

ROW_BYTES = 100
"""The bytes of a text in each row that are allowed in any case, for tables of many rows."""

STEP = "ask its author for a smaller one, or, if you trust the author, unpack it and render its folder `results`"

CHUNK_BYTES = 1 << 20
"""How much is unpacked at once."""


class Source(io.BufferedReader):
    """A zip file whose list of files is refused if it is too long, before it is in memory: zipfile reads it at once."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Read `size` bytes, or the rest of the file. Raises CrossoverError if they are more than DIRECTORY_BYTES."""
        wanted = DIRECTORY_BYTES + 1 if size is None or size < 0 else size
        if size == wanted > DIRECTORY_BYTES:
            raise _excess("has a list of files of", "bytes", size, DIRECTORY_BYTES)
        if len(found := super().read(wanted)) > DIRECTORY_BYTES:
            raise _excess("has a list of files of at least", "bytes", len(found), DIRECTORY_BYTES)
        return found


def opened(bundle: Path) -> Source:
    """The bundle as a file for zipfile. Raises OSError."""
    return Source(io.FileIO(bundle))


def require_sizes(packed: zipfile.ZipFile) -> None:
    """Raise CrossoverError if the number of files, or a size that the zip file declares, is over a limit."""
    entries = packed.infolist()
    if len(entries) > FILES:
        raise _excess("holds", "files", len(entries), FILES)
    for entry in entries:
        if entry.file_size > FILE_BYTES:
            raise _excess(f"holds {entry.filename!r} of", "bytes", entry.file_size, FILE_BYTES)
        # Other methods can unpack a few bytes to any size in one step.
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise CrossoverError(
                f"holds {entry.filename!r}, packed by a method that crossover does not use; ask its author to pack it "
                "with: crossover bundle"
            )
    if (total := sum(entry.file_size for entry in entries)) > TOTAL_BYTES:
        raise _excess("unpacks to", "bytes", total, TOTAL_BYTES)


def copied(name: str, source: IO[bytes], copy: IO[bytes], left_bytes: int) -> int:
    """Copy a file of a bundle, and return its bytes.

    Raises CrossoverError as soon as they are more than FILE_BYTES, or than the `left_bytes` of the whole bundle.
    """
    count = 0
    while block := source.read(CHUNK_BYTES):
        count += len(block)
        if count > FILE_BYTES:
            raise _excess(f"unpacks {name!r} to", "bytes", count, FILE_BYTES)
        if count > left_bytes:
            raise _excess("unpacks to", "bytes", TOTAL_BYTES - left_bytes + count, TOTAL_BYTES)
        copy.write(block)
    return count


def require_rows(path: Path, name: str) -> None:
    """Raise CrossoverError if the table at `path`, the file `name` of a bundle, has too many rows by its footer."""
    limit = SAMPLE_ROWS if path.stem == "measurements" else ROWS
    facts = pq.read_metadata(path)
    groups = [facts.row_group(index) for index in range(facts.num_row_groups)]
    # The footer gives the rows three times, and a hostile one can contradict itself.
    widest = sum(
        max([group.num_rows, *(group.column(index).num_values for index in range(group.num_columns))])
        for group in groups
    )
    if (rows := max(facts.num_rows, widest)) > limit:
        raise _excess(f"holds {name!r} with", "rows", rows, limit)
    _require_bytes(path, name, max(TEXT_BYTES, ROW_BYTES * rows))


def _require_bytes(path: Path, name: str, limit: int) -> None:
    """Raise CrossoverError if a column of texts is longer than `limit` bytes: a file stores each repeated text once."""
    texts = [field.name for field in pq.read_schema(path) if pa.types.is_string(field.type)]
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        for column in texts:
            count = 0
            for part in file.iter_batches(columns=[column]):
                coded = part.column(0)
                if not pa.types.is_dictionary(coded.type):
                    coded = coded.dictionary_encode()
                lengths = pc.binary_length(coded.dictionary).take(coded.indices)
                count += pc.sum(lengths.cast(pa.int64())).as_py() or 0
                if count > limit:
                    raise _excess(f"holds {name!r}, in which {column!r} has", "bytes", count, limit)


def _excess(what: str, unit: str, count: int, limit: int) -> CrossoverError:
    return CrossoverError(f"{what} {count} {unit}, more than the limit of {limit}; {STEP}")
