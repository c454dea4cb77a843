"""A folder as one zip file that depends on nothing but its files' names and content: no times, no owners, no order."""

from __future__ import annotations

import shutil
import stat
import zipfile
from pathlib import Path

from crossover.records import atomic

PACKED = (".parquet", ".png", ".pdf")
"""Endings of files that are compressed already."""

MODE = stat.S_IFREG | 0o644
UNIX = 3
"""What the zip format calls the system whose modes MODE is in."""


def files(folder: Path) -> list[Path]:
    """The files below a folder, hidden ones among them, in the order of their names."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix())


def write(folder: Path, archive: Path) -> None:
    """Write the files below `folder` to the zip file `archive`, which appears whole or not at all.

    The same files give the same bytes, on any machine with the same zlib. Raises CrossoverError.
    """
    with atomic.replacing(archive, "choose another place") as part, zipfile.ZipFile(part, "w") as packed:
        for path in files(folder):
            with path.open("rb") as source, packed.open(_entry(path, folder), "w") as entry:
                shutil.copyfileobj(source, entry, 1 << 20)


def _entry(path: Path, folder: Path) -> zipfile.ZipInfo:
    # The earliest time that a zip file can hold, and the default.
    entry = zipfile.ZipInfo(path.relative_to(folder).as_posix())
    entry.create_system = UNIX
    entry.external_attr = MODE << 16
    entry.compress_type = zipfile.ZIP_STORED if path.suffix in PACKED else zipfile.ZIP_DEFLATED
    # So that it knows whether it needs the format's extension for large files.
    entry.file_size = path.stat().st_size
    return entry
