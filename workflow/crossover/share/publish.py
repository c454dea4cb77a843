"""Publishes a finished report to a branch that is served as a web site, a folder, or a zip file.

The branch is one of a git remote, such as those of GitHub's and GitLab's pages. The commit is made beside the working
tree, and the branches move to it when it is whole, so an interruption leaves them as they were.
"""

import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

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


def publish(
    results: Path, to: str, remote: str, name: str, agreed: bool, redact: bool = True, own_text: bool = False
) -> str:
    """Publish the report on `results`. Returns a sentence with its destination.

    `to` is PAGES, for the branch `name` of `remote`; a zip file; or a folder. Before a push, the user is asked on the
    terminal unless `agreed`. If `redact`, the page is rendered again with pseudonyms for names of hosts, users and so
    on, unless the folder has this page; with the text of a user's files only if `own_text`. Raises CrossoverError.
    """
    made_from = run_files.require_fresh(results)
    held = run_files.own_files(run_files.launches(results), own_text)
    with run_files.temporary() as folder:
        if redact or (held and not own_text):
            private.render(results, folder, made_from, redact, own_text, Path(to) / "index.html")
        else:
            run_files.copy([(results / run_files.PAGE).parent], results, folder / "results")
        site = (folder / "results" / run_files.PAGE).parent
        (site / NO_JEKYLL).touch()
        if to == PAGES:
            return _to_branch(site, remote, name, agreed, held)
        if to.endswith(".zip"):
            run_files.pack(site, Path(to))
        else:
            _to_folder(site, Path(to))
    return f"Report: {to}{held}"


def _to_folder(site: Path, folder: Path) -> None:
    """Write the files into a folder, and keep all other files there, unless it has another page."""
    files, page = run_files.below(site), folder / "index.html"
    if page.is_file() and renderer.ORIGIN_MARK.encode() not in page.read_bytes():
        raise CrossoverError(f"{page}: is not a crossover report and was kept; choose another folder, or remove it")
    # The page last, so that a full disk leaves the old one with its parts.
    for name in sorted(files, key="index.html".__eq__):
        with atomic.replacing(folder / name, "choose another folder") as part:
            shutil.copyfile(files[name], part)


def _to_branch(site: Path, remote: str, name: str, agreed: bool, held: str) -> str:
    """Push the files to a branch, after a question; `held` is its clause on the text of a user's files.

    Raises CrossoverError, also for a branch with another page.
    """
    url = _without_password(_git("remote", "get-url", "--push", remote))
    here, there = f"refs/heads/{name}", f"refs/remotes/{remote}/{name}"
    _require_whole(here, there)
    # With a pattern, so that a branch that does not exist yet is no error.
    _git("fetch", "--no-tags", "--prune", remote, f"+{here}*:{there}*")
    # The remote's last, because the new commit follows it.
    branches = _git("for-each-ref", "--format=%(refname)", here, there).split()
    for branch in branches:
        files = _git("ls-tree", "--name-only", branch).splitlines()
        if "index.html" not in files or renderer.ORIGIN_MARK not in _git("show", f"{branch}:index.html"):
            raise CrossoverError(
                f"the branch {branch} is not a crossover report, and publishing would replace it; choose another with "
                "--branch, or delete that one"
            )
        if branch == there and DOMAIN in files:
            (site / DOMAIN).write_text(f"{_git('show', f'{branch}:{DOMAIN}')}\n", encoding="utf-8")
    sizes = [path.stat().st_size for path in run_files.below(site).values()]
    what = f"{len(sizes)} files, {sum(sizes) / 1e6:.1f} MB{held}, to the branch {name} of {url}"
    if not agreed:
        _ask_user(what)
    print(f"Pushing {what} ...", file=sys.stderr, flush=True)
    commit = _commit(site, branches[-1:])
    _git("push", remote, f"{commit}:{here}")
    # The branch here moves last, to a commit that is whole.
    _git("update-ref", here, commit)
    return (
        f"Published on the branch {name} of {url}; the first time, make the server show this branch as a site "
        "(GitHub: Settings, Pages)"
    )


def _require_whole(*branches: str) -> None:
    """Raise CrossoverError if a branch lacks a file, as earlier releases left it when they were interrupted."""
    for branch in _git("for-each-ref", "--format=%(refname)", *branches).split():
        try:
            _git("rev-list", "--objects", "--no-walk", "--quiet", branch)
        except CrossoverError:
            raise CrossoverError(
                f"the branch {branch} is damaged, and nothing was pushed; remove it, then "
                f"repeat the command: git update-ref -d {branch}"
            ) from None


def _commit(site: Path, parents: Sequence[str]) -> str:
    """The name of a new commit with the files, beside the working tree; no branch points to it yet."""
    files = run_files.below(site)
    blobs = _git("hash-object", "-w", "--no-filters", "--", *map(str, files.values())).split()
    entries = "".join(f"100644 {blob}\t{name}\0" for name, blob in zip(files, blobs, strict=True))
    index = {"GIT_INDEX_FILE": str(site.with_name("index"))}
    _git("update-index", "-z", "--index-info", text=entries, variables=index)
    tree = _git("write-tree", variables=index)
    return _git("commit-tree", tree, "-m", "Report by crossover", *(f"-p{parent}" for parent in parents))


def _ask_user(what: str) -> None:
    if not sys.stdin or not sys.stdin.isatty():
        raise CrossoverError(f"would push {what}, but there is no terminal to ask on; to agree, add --yes")
    print(f"Push {what}? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CrossoverError("nothing was pushed")


def _git(*words: str, text: str = "", variables: Mapping[str, str] | None = None) -> str:
    """Git's output. Raises CrossoverError with git's own words if it fails."""
    try:
        done = programs.run(["git", *words], text=text, variables=variables)
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
