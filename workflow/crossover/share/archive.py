"""Packs a folder into a zip file that depends only on the names and contents of its files, not on times or owners."""

import shutil
import stat
import zipfile
from pathlib import Path

from crossover.records import atomic

PACKED = (".parquet", ".png", ".pdf")
"""Suffixes of files that are already compressed."""

MODE = stat.S_IFREG | 0o644
UNIX = 3
"""The zip format's number for Unix, whose file modes MODE uses."""


def files(folder: Path) -> list[Path]:
    """The files below a folder, including hidden ones, sorted by name."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix())


def write(folder: Path, archive: Path) -> None:
    """Write the files below `folder` to the zip file `archive`, whole or not at all.

    The same files give the same bytes on any machine with the same zlib. Raises CrossoverError.
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
    # The size decides whether the format's extension for large files is needed.
    entry.file_size = path.stat().st_size
    return entry
