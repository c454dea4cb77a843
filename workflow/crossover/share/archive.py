"""Packs a folder into a zip file, whose bytes depend on the files' names and contents and on zlib, but not on times."""

import shutil
import stat
import zipfile
from pathlib import Path

from crossover.records import atomic

PACKED = (".parquet", ".png", ".pdf")
"""Suffixes of files that are already compressed."""


def files(folder: Path) -> dict[str, Path]:
    """The files below a folder, including hidden ones, by their names in it; sorted by name."""
    return dict(sorted((path.relative_to(folder).as_posix(), path) for path in folder.rglob("*") if path.is_file()))


def write(folder: Path, archive: Path) -> None:
    """Write the files below `folder` to the zip file `archive`, whole or not at all. Raises CrossoverError."""
    with atomic.replacing(archive, "choose another place") as part, zipfile.ZipFile(part, "w") as packed:
        for name, path in files(folder).items():
            # Its default time is the earliest that a zip file can hold.
            entry = zipfile.ZipInfo(name)
            # The format's number for Unix, and the mode of a plain file that everybody can read.
            entry.create_system = 3
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            entry.compress_type = zipfile.ZIP_STORED if path.suffix in PACKED else zipfile.ZIP_DEFLATED
            # The size decides whether the format's extension for large files is needed.
            entry.file_size = path.stat().st_size
            with path.open("rb") as source, packed.open(entry, "w") as copy:
                shutil.copyfileobj(source, copy, 1 << 20)
