"""The files that are published: the report's folder, as any web server takes it."""

from __future__ import annotations

import shutil
from pathlib import Path

from crossover.errors import CrossoverError
from crossover.report.render import origin

NO_JEKYLL = ".nojekyll"
"""The empty file that keeps GitHub from building a site of its own out of ours."""


def stage(report: Path, folder: Path) -> dict[str, Path]:
    """Copy the report's folder to the new `folder`; its files by the names under which they are published.

    Raises CrossoverError if a file cannot be read, or if there is no room.
    """
    try:
        shutil.copytree(report, folder, ignore=shutil.ignore_patterns(".*"))
        (folder / NO_JEKYLL).touch()
    except OSError as error:
        raise CrossoverError(
            f"{report}: cannot be copied to {folder} ({error.strerror or error}); make it readable, or name a folder "
            "with more room by TMPDIR"
        ) from None
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path for path in sorted(found)}


def is_ours(page: bytes) -> bool:
    """Whether this is a page that crossover made."""
    return origin.MARK.encode() in page


def write(files: dict[str, Path], folder: Path) -> None:
    """Write the published files into a folder and leave alone whatever else is there.

    Raises CrossoverError if another's page is there, or if it cannot be written.
    """
    page = folder / "index.html"
    try:
        if page.exists() and not is_ours(page.read_bytes()):
            raise CrossoverError(f"{page}: is no report of crossover's and stays; choose another folder, or remove it")
        for name, path in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / name)
    except OSError as error:
        why = error.strerror or error
        raise CrossoverError(f"{folder}: cannot be written ({why}); choose another folder") from None
