"""Renders the reports of bundles, which can come from anywhere: checks names, sizes and every byte while unpacking."""

import json
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow.parquet as pq

from crossover.errors import CrossoverError
from crossover.records import record
from crossover.records.failure import Failure
from crossover.report.render import origin, renderer
from crossover.share import freshness, limits
from crossover.share.bundle import SUMS, checksum
from crossover.share.crate import DIGESTS, METADATA

AGAIN = "download it again, or ask its author"

BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError)
"""Errors from reading a damaged zip file, or text and JSON in it."""


def render(bundle: Path, page: Path, prepare: Callable[[Path], None]) -> tuple[str, list[Failure]]:
    """Render a bundle's report to the file `page`. Returns how they compare, and failures. Raises CrossoverError.

    Before, `prepare` brings the unpacked results up to date.
    """
    if page.resolve() == bundle.resolve():
        raise CrossoverError(f"--page {page}: is the bundle itself; name another file")
    with opened(bundle) as folder:
        theirs = folder / "results" / freshness.PAGE
        prepare(folder / "results")
        failures = renderer.render(
            folder / "results",
            page,
            json.dumps(origin.read(theirs)["waiting"]),
            foreign=True,
        )
        same = page.read_bytes() == theirs.read_bytes()
    if same:
        return f"Report: {page}, the same bytes as in {bundle}", failures
    return (
        f"Report: {page}, from the same results as the report in {bundle}, but with other bytes, because versions of "
        "crossover or its libraries differ, or only one of them was rendered by Quarto"
    ), failures


@contextmanager
def opened(bundle: Path) -> Iterator[Path]:
    """A temporary private folder with the bundle's files. Raises CrossoverError."""
    with tempfile.TemporaryDirectory(prefix="crossover-") as private:
        folder = Path(private) / "bundle"
        try:
            with limits.opened(bundle) as file, zipfile.ZipFile(file) as packed:
                limits.require_sizes(packed)
                _refuse_names(packed)
                crate = json.loads(_small(packed, METADATA))
                _refuse_version(crate)
                _extract(packed, folder)
            _refuse_tables(folder, crate)
        except CrossoverError as error:
            raise CrossoverError(f"{bundle}: {error}") from None
        except BROKEN as error:
            raise CrossoverError(f"{bundle}: is damaged, or not a crossover bundle ({error}); {AGAIN}") from None
        except OSError as error:
            raise CrossoverError(
                f"{bundle}: cannot be unpacked ({error.strerror or error}); name a bundle, or set TMPDIR to a folder "
                "with more space"
            ) from None
        yield folder


def _refusal(wrong: str, step: str = AGAIN) -> CrossoverError:
    return CrossoverError(f"{wrong}; {step}")


def _refuse_names(packed: zipfile.ZipFile) -> None:
    seen = set()
    for entry in packed.infolist():
        name = entry.filename
        path = PurePosixPath(name)
        plain = path.as_posix() == name == entry.orig_filename and not set(name) & set("\\:")
        if not plain or name == "." or path.is_absolute() or ".." in path.parts:
            raise _refusal(f"holds the name {name!r}, which leads out of the folder that it is unpacked to")
        if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG) or entry.is_dir():
            raise _refusal(f"holds {name!r}, which is not a plain file")
        if name in seen:
            raise _refusal(f"holds {name!r} twice")
        seen.add(name)


def _refuse_version(crate: Any) -> None:
    try:
        roots = (entity for entity in crate["@graph"] if entity.get("@id") == "./")
        root: dict[str, Any] = next(roots, {})
        version = root.get("schemaVersion")
    except (LookupError, TypeError, AttributeError) as error:
        raise _refusal(f"holds a {METADATA} that is not from crossover ({error})") from None
    if version is None:
        raise _refusal("is an RO-Crate, but not from crossover")
    if version not in record.READABLE:
        raise _refusal(
            f"has schema version {version}, this code reads {' and '.join(record.READABLE)}",
            "render it with the crossover that made it; its table of launches has the commit",
        )


def _extract(packed: zipfile.ZipFile, folder: Path) -> None:
    lines = (line.partition("  ") for line in _small(packed, SUMS).decode().splitlines())
    expected = {name: wanted for wanted, _, name in lines}
    names = set(packed.namelist()) - {SUMS}
    if different := sorted(names ^ expected.keys()):
        raise _refusal(f"does not hold the files that its {SUMS} lists: {different[0]!r} is in only one of the two")
    needed = sum(entry.file_size for entry in packed.infolist())
    folder.mkdir()
    if needed > (free := shutil.disk_usage(folder).free):
        raise _refusal(
            f"needs {needed / 1e6:.0f} MB unpacked, but {folder.parents[1]} has only {free / 1e6:.0f} MB left",
            "free some space there, or set TMPDIR to another folder",
        )
    left_bytes = limits.TOTAL_BYTES
    for name in sorted(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with packed.open(name) as source, path.open("wb") as copy:
            left_bytes -= limits.copied(name, source, copy, left_bytes)
        if checksum(path) != expected[name]:
            raise _refusal(f"is damaged: {name!r} does not match its checksum in {SUMS}")


def _refuse_tables(folder: Path, crate: dict[str, Any]) -> None:
    """Refuse tables with too many rows, and missing checksums where the bundle's release wrote them."""
    tables = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*.parquet"))}
    for name, path in tables.items():
        limits.require_rows(path, name)
        _refuse_texts(path, name)
    without = [name for name, path in tables.items() if record.DIGEST not in (pq.read_schema(path).metadata or {})]
    if any(entity.get("@id") == DIGESTS for entity in crate["@graph"]):
        missing = without
    else:
        # Earlier releases wrote all of these tables at once; raw files of one run can be of several releases.
        joined = {name for name in tables if name.startswith("results/") and name.count("/") == 1}
        missing = [name for name in without if name in joined] if joined - set(without) else []
    if missing:
        raise _refusal(f"holds {missing[0]!r} without its checksum of rows, so somebody may have changed it")


def _refuse_texts(path: Path, name: str) -> None:
    """Refuse a table with a text that is not JSON in a column of JSON."""
    columns = [column for column in JSON if column in pq.read_schema(path).names]
    for column, values in zip(columns, pq.read_table(path, columns=columns, partitioning=None), strict=True):
        for text in values.unique().to_pylist():
            try:
                json.loads(text or "null")
            except (ValueError, TypeError):
                raise _refusal(f"holds {name!r}, in which {column!r} has a text that is not JSON") from None


JSON = ("settings", "levels", "libraries", "network", "slurm", "phases", "aims", "points", "effects", "arms", "rows")
"""Columns of JSON."""


def _small(packed: zipfile.ZipFile, name: str) -> bytes:
    try:
        entry = packed.getinfo(name)
    except KeyError:
        raise _refusal(f"is not a crossover bundle, because it has no {name}") from None
    if entry.file_size > limits.LIST_BYTES:
        raise _refusal(f"holds a {name} that is too large to be from crossover")
    return packed.read(name)
