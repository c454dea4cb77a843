"""The files of a finished run: whether its report is up to date with them, and how they are copied and packed.

A report's age is told from contents, because a copy or a clone changes times: the page lists its tables and figures,
and the tables list their launches. Only for a raw file that no table lists does the time matter: it is either a newer
launch, or left over from a run with another configuration.
"""

import json
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from crossover.errors import CrossoverError
from crossover.records import atomic, record, rows, run_tables
from crossover.records.temporary import folder as temporary_folder
from crossover.report.pages import renderer

PAGE = "report/index.html"
MOST_NAMED = 5
"""The most files that a message lists."""

PACKED = ".parquet"
"""The suffix of files that are already compressed."""


def require_fresh(results: Path) -> dict[str, Any]:
    """The `origin` of the report. Raises CrossoverError if the report is missing or out of date."""
    page = results / PAGE
    recorded, now = renderer.recorded_origin(page), renderer.origin(results)
    if recorded["crossover"] != record.VERSION:
        raise CrossoverError(
            f"{page}: has schema version {recorded['crossover']}, this code writes {record.VERSION}; run: make report"
        )
    was, present = recorded["made_from"], now["made_from"]
    if changed := sorted(name for name in was | present if was.get(name) != present.get(name)):
        raise CrossoverError(_sentence(page, [str(results / name) for name in changed], results))
    if newer := list(_newer(results)):
        raise CrossoverError(_sentence(results / "launches.parquet", newer, results))
    return recorded


def launches(results: Path) -> list[rows.Launch]:
    """The rows of the launches in the tables."""
    return record.rows_of(results / "launches.parquet", rows.Launch)


def own_files(launches: Sequence[rows.Launch], own_text: bool) -> str:
    """Whether the text of a user's files is shared, as a clause; empty without such files."""
    names = dict.fromkeys(name for launch in launches for name in (launch.settings or {}).get("sources", {}))
    if not names:
        return ""
    return f", with{'' if own_text else 'out'} the text of {', '.join(names)}" + ("" if own_text else " (--own-text)")


def _newer(results: Path) -> Iterator[str]:
    """The raw files that are missing in the tables, or have changed since."""
    known = {run_tables.raw_file(results, row.file): row.started_utc for row in launches(results)}
    joined = (results / "launches.parquet").stat().st_mtime_ns
    # Launches of other tiers are in the same folder, but not part of this report.
    tiers = {path.parents[2] for path in known}
    for path in sorted(found for tier in tiers for found in tier.glob("*/*/launch=*.parquet")):
        if path in known:
            if _started(path) != known[path]:
                yield str(path)
        elif path.stat().st_mtime_ns > joined:
            yield str(path)


def _started(path: Path) -> str:
    """The start of a launch; empty, as in the tables, if its file cannot be read."""
    try:
        return json.loads(record.stored(path)[b"launch"]).get("started_utc") or ""
    except (*record.DAMAGE, AttributeError):
        return ""


def _sentence(older: Path, newer: list[str], results: Path) -> str:
    named = ", ".join(newer[:MOST_NAMED]) + (f" and {len(newer) - MOST_NAMED} more" if len(newer) > MOST_NAMED else "")
    again = "make report" if results == Path("results") else "the command that made it"
    return f"{older}: is older than {named}; repeat {again} (it keeps measured launches), then this command"


@contextmanager
def temporary() -> Iterator[Path]:
    """A new folder, which is deleted at the end. Raises CrossoverError in place of OSError, for a failed copy."""
    try:
        with temporary_folder() as folder:
            yield folder
    except OSError as error:
        raise CrossoverError(
            f"{error.filename or tempfile.gettempdir()}: cannot be copied ({error.strerror or error}); make it "
            f"readable; if {tempfile.gettempdir()} is full, set TMPDIR to another folder"
        ) from None


def below(folder: Path) -> dict[str, Path]:
    """The files below a folder, including hidden ones, by their names in it; sorted by name."""
    return dict(sorted((path.relative_to(folder).as_posix(), path) for path in folder.rglob("*") if path.is_file()))


def pack(folder: Path, archive: Path) -> None:
    """Write the files below `folder` to the zip file `archive`, whole or not at all. Raises CrossoverError."""
    with atomic.replacing(archive, "choose another place") as part, zipfile.ZipFile(part, "w") as packed:
        for name, path in below(folder).items():
            # Its default time is the earliest that a zip file can hold.
            entry = zipfile.ZipInfo(name)
            # The format's number for Unix, and the mode of a plain file that everybody can read.
            entry.create_system = 3
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            entry.compress_type = zipfile.ZIP_STORED if path.suffix == PACKED else zipfile.ZIP_DEFLATED
            # The size decides whether the format's extension for large files is needed.
            entry.file_size = path.stat().st_size
            with path.open("rb") as source, packed.open(entry, "w") as target:
                shutil.copyfileobj(source, target, 1 << 20)


def copy(paths: Iterable[Path], root: Path, folder: Path) -> None:
    """Copy files, and folders without hidden files, from below `root` to the same places below `folder`.

    Raises CrossoverError for a link: it can lead to any file of the user, and a bundle is for others.
    """
    for path in paths:
        inside = [path, *(each for each in path.parents if each.is_relative_to(root) and each != root)]
        if link := next((each for each in (*inside, *path.rglob("*")) if each.is_symlink()), None):
            raise CrossoverError(f"{link}: is a link, and only files of the run are shared; put a copy in its place")
        copied = folder / path.relative_to(root)
        copied.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, copied, ignore=shutil.ignore_patterns(".*"))
        else:
            shutil.copyfile(path, copied)
