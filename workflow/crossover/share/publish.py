"""Publishes a finished report to a branch that is served as a web site, a folder, or a zip file.

The branch is one of a git remote, such as those of GitHub's and GitLab's pages. ghp-import makes the commit and pushes
it, and creates the branch if needed. It does not touch the working tree. Git's own words reach the terminal.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import ghp_import

from crossover import programs
from crossover.errors import CrossoverError
from crossover.records import atomic
from crossover.report.pages import renderer
from crossover.share import private, run_files

PAGES = "gh-pages"
"""The destination for a branch; any other destination is a path."""

NO_JEKYLL = ".nojekyll"
"""An empty file that stops GitHub from processing the site with Jekyll."""

DOMAIN = "CNAME"
"""The file with a site's own domain, which the server's settings write."""


def publish(results: Path, to: str, remote: str, name: str, agreed: bool, redact: bool = True) -> str:
    """Publish the report on `results`. Returns a sentence with its destination.

    `to` is PAGES, for the branch `name` of `remote`; a zip file; or a folder. Before a push, the user is asked on the
    terminal unless `agreed`. If `redact`, the page is rendered again with pseudonyms for names of hosts, users and so
    on, unless the folder has this page. Raises CrossoverError.
    """
    made_from = run_files.require_fresh(results)
    with run_files.temporary() as folder:
        if redact:
            private.render(results, folder, made_from, redact, Path(to) / "index.html")
        else:
            run_files.copy([(results / run_files.PAGE).parent], results, folder / "results")
        site = (folder / "results" / run_files.PAGE).parent
        (site / NO_JEKYLL).touch()
        if to == PAGES:
            return _to_branch(site, remote, name, agreed)
        if to.endswith(".zip"):
            run_files.pack(site, Path(to))
        else:
            _to_folder(site, Path(to))
    return f"Report: {to}"


def _to_folder(site: Path, folder: Path) -> None:
    """Write the files into a folder, and keep all other files there, unless it has another page."""
    files, page = run_files.below(site), folder / "index.html"
    if page.is_file() and renderer.ORIGIN_MARK.encode() not in page.read_bytes():
        raise CrossoverError(f"{page}: is not a crossover report and was kept; choose another folder, or remove it")
    # The page last, so that a full disk leaves the old one with its parts.
    for name in sorted(files, key="index.html".__eq__):
        with atomic.replacing(folder / name, "choose another folder") as part:
            shutil.copyfile(files[name], part)


def _to_branch(site: Path, remote: str, name: str, agreed: bool) -> str:
    """Push the files to a branch, after a question. Raises CrossoverError, also for a branch with another page."""
    url = _without_password(_git("remote", "get-url", "--push", remote))
    here, there = f"refs/heads/{name}", f"refs/remotes/{remote}/{name}"
    # With a pattern, so that a branch that does not exist yet is no error.
    _git("fetch", "--no-tags", "--prune", remote, f"+{here}*:{there}*")
    for branch in _git("for-each-ref", "--format=%(refname)", here, there).split():
        files = _git("ls-tree", "--name-only", branch).splitlines()
        if "index.html" not in files or renderer.ORIGIN_MARK not in _git("show", f"{branch}:index.html"):
            raise CrossoverError(
                f"the branch {branch} is not a crossover report, and publishing would replace it; choose another with "
                "--branch, or delete that one"
            )
        if branch == there and DOMAIN in files:
            (site / DOMAIN).write_text(f"{_git('show', f'{branch}:{DOMAIN}')}\n", encoding="utf-8")
    sizes = [path.stat().st_size for path in run_files.below(site).values()]
    own = re.findall(f'{renderer.FILE_MARK}="([^"]*)"', (site / "index.html").read_text(encoding="utf-8"))
    text = f", with the text of {', '.join(dict.fromkeys(own))}" if own else ""
    what = f"{len(sizes)} files, {sum(sizes) / 1e6:.1f} MB{text}, to the branch {name} of {url}"
    if not agreed:
        _ask_user(what)
    print(f"Pushing {what} ...", file=sys.stderr, flush=True)
    _push(site, remote, name)
    return (
        f"Published on the branch {name} of {url}; the first time, make the server show this branch as a site "
        "(GitHub: Settings, Pages)"
    )


def _ask_user(what: str) -> None:
    if not sys.stdin or not sys.stdin.isatty():
        raise CrossoverError(f"would push {what}, but there is no terminal to ask on; to agree, add --yes")
    print(f"Push {what}? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CrossoverError("nothing was pushed")


def _push(site: Path, remote: str, name: str) -> None:
    try:
        ghp_import.ghp_import(str(site), remote=remote, branch=name, mesg="Report by crossover", push=True)
    # If git cannot make the commit, ghp-import writes bytes where a text belongs.
    except (ghp_import.GhpError, subprocess.CalledProcessError, TypeError) as error:
        raise CrossoverError(
            f"git could not push, and says why above ({error}); correct that, or choose another --remote or --branch"
        ) from None


def _git(*words: str) -> str:
    """Git's output. Raises CrossoverError with git's own words if it fails."""
    try:
        done = programs.run(["git", *words])
    except OSError as error:
        raise CrossoverError(f"git cannot be run ({error.strerror}); install it, or publish with --to site/") from None
    if done.returncode:
        raise CrossoverError(
            f"git {words[0]} failed, and nothing was pushed:\n{_without_password(done.stderr.strip())}\n"
            "Correct that, choose another --remote or --branch, or publish to a folder: --to site/"
        )
    return done.stdout.strip()


def _without_password(text: str) -> str:
    """The text without user names and passwords in URLs.

    >>> _without_password("https://me:secret@example.org/it.git")
    'https://example.org/it.git'
    """
    return re.sub(r"(\w+://)[^/@\s]+@", r"\1", text)
