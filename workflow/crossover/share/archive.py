"""Packs a folder into a zip file that depends only on the names and contents of its files, not on times or owners."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import zipfile
from contextlib import suppress
from pathlib import Path

from crossover.records import record

PACKED = (".parquet", ".png", ".pdf")
"""Suffixes of files that are already compressed."""

MODE = stat.S_IFREG | 0o644
UNIX = 3
"""The zip format's number for Unix, whose file modes MODE uses."""


class ArchiveError(Exception):
    """An archive that cannot be written; the message says why and what to do."""


def files(folder: Path) -> list[Path]:
    """The files below a folder, including hidden ones, sorted by name."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix())


def write(folder: Path, archive: Path) -> None:
    """Write the files below `folder` to the zip file `archive`, which appears whole or not at all.

    The same files give the same bytes, on any machine with the same zlib. Raises ArchiveError.
    """
    part = archive.with_name(f".{archive.name}.{socket.gethostname()}.{os.getpid()}.part")
    try:
        archive.parent.mkdir(parents=True, exist_ok=True)
        record.sweep(archive.parent)
        _pack(folder, part)
        part.replace(archive)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise ArchiveError(f"{archive}: cannot be written ({error.strerror or error}); choose another place") from None


def _pack(folder: Path, archive: Path) -> None:
    with zipfile.ZipFile(archive, "w") as packed:
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
