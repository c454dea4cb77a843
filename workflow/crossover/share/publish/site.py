"""The published files: the report's folder, ready for any web server."""

from __future__ import annotations

import shutil
from pathlib import Path

from crossover.errors import CrossoverError
from crossover.report.render import origin

NO_JEKYLL = ".nojekyll"
"""An empty file that stops GitHub from processing the site with Jekyll."""


def stage(report: Path, folder: Path) -> dict[str, Path]:
    """Copy the report's folder to the new `folder`. Returns the copied files by their published names.

    Raises CrossoverError if a file cannot be read, or if the disk is full.
    """
    try:
        shutil.copytree(report, folder, ignore=shutil.ignore_patterns(".*"))
        (folder / NO_JEKYLL).touch()
    except OSError as error:
        raise CrossoverError(
            f"{report}: cannot be copied to {folder} ({error.strerror or error}); make it readable, or set TMPDIR to a "
            "folder with more space"
        ) from None
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path for path in sorted(found)}


def is_ours(page: bytes) -> bool:
    """Whether crossover made this page."""
    return origin.MARK.encode() in page


def write(files: dict[str, Path], folder: Path) -> None:
    """Write the published files into a folder, and keep all other files there.

    Raises CrossoverError if the folder has another page, or cannot be written.
    """
    page = folder / "index.html"
    try:
        if page.exists() and not is_ours(page.read_bytes()):
            raise CrossoverError(f"{page}: is not a crossover report and was kept; choose another folder, or remove it")
        for name, path in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / name)
    except OSError as error:
        why = error.strerror or error
        raise CrossoverError(f"{folder}: cannot be written ({why}); choose another folder") from None
