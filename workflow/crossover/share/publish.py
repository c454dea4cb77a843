"""Publishes a finished report to a branch that is served as a web site, a folder, or a zip file."""

import difflib
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from crossover.errors import CrossoverError
from crossover.paths import PROJECT
from crossover.records import atomic
from crossover.report.render import renderer
from crossover.share import archive, branch, freshness, private
from crossover.share.branch import Branch

PAGES = "gh-pages"
"""The destination for a branch; any other destination is a path."""


def publish(results: Path, to: str, remote: str, name: str, agreed: bool, redact: bool = True) -> str:
    """Publish the report on `results`. Returns a sentence with its destination.

    `to` is PAGES, for the branch `name` of `remote`; a zip file; or a folder, which needs a slash at its end only if
    its name is almost PAGES. Before a push, the user is asked on the terminal unless `agreed`. If `redact`, the page is
    rendered again with pseudonyms for names of hosts, users and so on. Raises CrossoverError.
    """
    if to != PAGES and not to.endswith("/") and difflib.get_close_matches(to, [PAGES]):
        raise CrossoverError(f"--to {to}: unknown destination; give {PAGES}, a folder (site/) or a zip file (site.zip)")
    made_from = freshness.require(results)
    with tempfile.TemporaryDirectory(prefix="crossover-") as temporary:
        folder = Path(temporary) / "site"
        shown = _redacted(results, made_from, Path(temporary) / "redacted") if redact else results
        files = stage((shown / freshness.PAGE).parent, folder)
        if to.endswith(".zip"):
            archive.write(folder, Path(to))
        elif to != PAGES:
            _to_folder(files, Path(to))
        else:
            return _to_branch(files, folder, branch.look(remote, name), agreed)
    return f"Report: {to}"


def _redacted(results: Path, made_from: dict[str, Any], folder: Path) -> Path:
    """A new folder of results in `folder` with pseudonyms for all names, and their page. Raises CrossoverError."""
    try:
        private.copy([results / name for name in made_from["made_from"]], results, folder / "results")
    except OSError as error:
        raise CrossoverError(
            f"{error.filename or results}: cannot be copied ({error.strerror or error}); make it readable, or set "
            "TMPDIR to a folder with more space"
        ) from None
    waiting = private.Mask(results, PROJECT, redact=True).folder(folder, made_from["waiting"])
    renderer.render(folder / "results", folder / "results" / freshness.PAGE, waiting)
    return folder / "results"


def stage(report: Path, folder: Path) -> dict[str, Path]:
    """Copy a report to the new `folder`, ready for any web server. Returns the files by name. Raises CrossoverError."""
    try:
        shutil.copytree(report, folder, ignore=shutil.ignore_patterns(".*"))
        (folder / branch.NO_JEKYLL).touch()
    except OSError as error:
        raise CrossoverError(
            f"{report}: cannot be copied to {folder} ({error.strerror or error}); make it readable, or set TMPDIR to a "
            "folder with more space"
        ) from None
    return archive.files(folder)


def _to_folder(files: dict[str, Path], folder: Path) -> None:
    """Write the files into a folder, and keep all other files there, unless it has another page."""
    page = folder / "index.html"
    try:
        if page.exists() and not branch.is_ours(page.read_bytes()):
            raise CrossoverError(f"{page}: is not a crossover report and was kept; choose another folder, or remove it")
        # The page last, so that a full disk leaves the old one with its parts.
        for name in sorted(files, key="index.html".__eq__):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            with atomic.replacing(folder / name, "choose another folder") as part:
                shutil.copyfile(files[name], part)
    except OSError as error:
        why = error.strerror or error
        raise CrossoverError(f"{folder}: cannot be written ({why}); choose another folder") from None


def _to_branch(files: dict[str, Path], folder: Path, target: Branch, agreed: bool) -> str:
    where = f"the branch {target.name} of {target.url}"
    branch.keep_domain(target, files, folder)
    if branch.holds(target, files):
        return f"Nothing to push: {where} already has this report"
    size_bytes = sum(path.stat().st_size for path in files.values())
    what = f"{len(files)} files, {size_bytes / 1e6:.1f} MB, to {where}"
    if not agreed:
        _ask(what)
    print(f"Pushing {what} ...", file=sys.stderr, flush=True)
    branch.push(target, folder)
    return f"Published on {where}; the first time, make the server show this branch as a site (GitHub: Settings, Pages)"


def _ask(what: str) -> None:
    if not sys.stdin or not sys.stdin.isatty():
        raise CrossoverError(f"would push {what}, but there is no terminal to ask on; to agree, add --yes")
    print(f"Push {what}? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CrossoverError("nothing was pushed")
