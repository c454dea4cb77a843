"""Publishes a finished report to a branch that is served as a web site, a folder, or a zip file.

The branch is one of a git remote, such as those of GitHub's and GitLab's pages. ghp-import makes the commit, and
creates the branch if needed. It does not touch the working tree.
"""

import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from crossover.errors import CrossoverError
from crossover.paths import PROJECT
from crossover.records import atomic
from crossover.report.pages import renderer
from crossover.share import private, run_files

PAGES = "gh-pages"
"""The destination for a branch; any other destination is a path."""

NO_JEKYLL = ".nojekyll"
"""An empty file that stops GitHub from processing the site with Jekyll."""

DOMAIN = "CNAME"
"""The file with a site's own domain, which the server's settings write."""

MEND = "Correct that, then publish again; nothing was pushed"


@dataclass(frozen=True)
class Branch:
    """A branch of a remote."""

    remote: str
    name: str

    @property
    def url(self) -> str:
        """The URL to push to, without a password."""
        return _without_password(_git_answer("remote", "get-url", "--push", self.remote))

    @property
    def tracked(self) -> str:
        """Git's name for the branch as last fetched from the remote."""
        return f"refs/remotes/{self.remote}/{self.name}"

    def content(self) -> dict[str, str]:
        """The hash of each file on the remote's branch, as last fetched; empty without a branch."""
        lines = _git_answer("ls-tree", "-r", "-z", self.tracked).split("\0")
        return {line.partition("\t")[2]: line.split()[2] for line in lines if line}


def publish(results: Path, to: str, remote: str, name: str, agreed: bool, redact: bool = True) -> str:
    """Publish the report on `results`. Returns a sentence with its destination.

    `to` is PAGES, for the branch `name` of `remote`; a zip file; or a folder, which needs a slash at its end only if
    its name is almost PAGES. Before a push, the user is asked on the terminal unless `agreed`. If `redact`, the page is
    rendered again with pseudonyms for names of hosts, users and so on. Raises CrossoverError.
    """
    if to != PAGES and not to.endswith("/") and difflib.get_close_matches(to, [PAGES]):
        raise CrossoverError(f"--to {to}: unknown destination; give {PAGES}, a folder (site/) or a zip file (site.zip)")
    made_from = run_files.require_fresh(results)
    with tempfile.TemporaryDirectory(prefix="crossover-") as temporary:
        folder = Path(temporary) / "site"
        shown = _redacted(results, made_from, Path(temporary) / "redacted") if redact else results
        files = stage((shown / run_files.PAGE).parent, folder)
        if to.endswith(".zip"):
            run_files.pack(folder, Path(to))
        elif to != PAGES:
            _to_folder(files, Path(to))
        else:
            return _to_branch(files, folder, _fetched(remote, name), agreed)
    return f"Report: {to}"


def _redacted(results: Path, made_from: dict[str, Any], folder: Path) -> Path:
    """A new folder of results in `folder` with pseudonyms for all names, and their page. Raises CrossoverError."""
    try:
        run_files.copy([results / name for name in made_from["made_from"]], results, folder / "results")
    except OSError as error:
        raise CrossoverError(
            f"{error.filename or results}: cannot be copied ({error.strerror or error}); make it readable, or set "
            "TMPDIR to a folder with more space"
        ) from None
    waiting = private.Mask(results, PROJECT, redact=True).folder(folder, made_from["waiting"])
    with Console(stderr=True).status("Rendering the page with pseudonyms"):
        renderer.render(folder / "results", folder / "results" / run_files.PAGE, waiting)
    return folder / "results"


def stage(report: Path, folder: Path) -> dict[str, Path]:
    """Copy a report to the new `folder`, ready for any web server. Returns the files by name. Raises CrossoverError."""
    try:
        shutil.copytree(report, folder, ignore=shutil.ignore_patterns(".*"))
        (folder / NO_JEKYLL).touch()
    except OSError as error:
        raise CrossoverError(
            f"{report}: cannot be copied to {folder} ({error.strerror or error}); make it readable, or set TMPDIR to a "
            "folder with more space"
        ) from None
    return run_files.below(folder)


def _to_folder(files: dict[str, Path], folder: Path) -> None:
    """Write the files into a folder, and keep all other files there, unless it has another page."""
    page = folder / "index.html"
    try:
        if page.exists() and not _is_our_page(page.read_bytes()):
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
    _keep_domain(target, files, folder)
    if _has(target, files):
        return f"Nothing to push: {where} already has this report"
    size_bytes = sum(path.stat().st_size for path in files.values())
    what = f"{len(files)} files, {size_bytes / 1e6:.1f} MB, to {where}"
    if not agreed:
        _ask_user(what)
    print(f"Pushing {what} ...", file=sys.stderr, flush=True)
    _push(target, folder)
    return f"Published on {where}; the first time, make the server show this branch as a site (GitHub: Settings, Pages)"


def _ask_user(what: str) -> None:
    if not sys.stdin or not sys.stdin.isatty():
        raise CrossoverError(f"would push {what}, but there is no terminal to ask on; to agree, add --yes")
    print(f"Push {what}? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CrossoverError("nothing was pushed")


def _fetched(remote: str, name: str) -> Branch:
    """Fetch a remote's branch. Raises CrossoverError if it cannot be fetched or must not be pushed to."""
    _require_checkout()
    branch = Branch(remote, name)
    if not branch.url:
        others = ", ".join(_git_answer("remote").split())
        raise CrossoverError(
            f"the checkout has no remote {remote!r}; "
            + (f"choose with --remote: {others}" if others else f"add one: git remote add {remote} URL")
        )
    if not _git_answer("check-ref-format", "--branch", name):
        raise CrossoverError(f"{name!r} is not a valid name of a branch; choose another with --branch")
    step = f"Correct that, or name another remote with --remote; nothing was pushed to {branch.url}"
    if _git("ls-remote", "--heads", remote, f"refs/heads/{name}", step=step):
        _git("fetch", "--no-tags", remote, f"+refs/heads/{name}:{branch.tracked}", step=step)
    else:
        _call_git("update-ref", "-d", branch.tracked)
    _refuse(branch)
    return branch


def _refuse(branch: Branch) -> None:
    name = branch.name
    if f"branch refs/heads/{name}" in _git_answer("worktree", "list", "--porcelain").splitlines():
        raise CrossoverError(
            f"the branch {name} is checked out here, and publishing would move it under your files; "
            "switch to another (git switch -), or choose another with --branch"
        )
    local, remote = (_git_answer("rev-parse", "-q", "--verify", ref) for ref in (f"refs/heads/{name}", branch.tracked))
    for commit, where in ((remote, f"on {branch.url}"), (local, "here")):
        if commit and not _is_our_commit(commit):
            raise CrossoverError(
                f"the branch {name} {where} is not a crossover report, and publishing would replace it; choose another "
                "with --branch, or delete that one"
            )
    for key in ("name", "email"):
        if not (os.environ.get(f"GIT_COMMITTER_{key.upper()}") or _git_answer("config", f"user.{key}")):
            raise CrossoverError(
                f"git does not know your {key}, which a commit needs; set it: git config user.{key} ..."
            )


def _is_our_commit(commit: str) -> bool:
    page = _git_answer("cat-file", "-p", f"{commit}:index.html")
    # An empty branch can be replaced too, but only if git has read it successfully.
    return _is_our_page(page.encode()) or not _git("ls-tree", commit, step=MEND)


def _is_our_page(page: bytes) -> bool:
    """Whether crossover made this page."""
    return renderer.ORIGIN_MARK.encode() in page


def _has(branch: Branch, files: dict[str, Path]) -> bool:
    """Whether the remote's branch has exactly these files. Raises CrossoverError if a file cannot be read."""
    paths = [str(path) for path in files.values()]
    hashes = _git("hash-object", "--no-filters", "--", *paths, step=MEND).split()
    return dict(zip(files, hashes, strict=True)) == branch.content()


def _keep_domain(branch: Branch, files: dict[str, Path], folder: Path) -> None:
    """Add the branch's DOMAIN file to the files, if it has one."""
    if DOMAIN in branch.content():
        files[DOMAIN] = folder / DOMAIN
        domain = _git("cat-file", "-p", f"{branch.tracked}:{DOMAIN}", step=MEND)
        files[DOMAIN].write_text(f"{domain}\n", encoding="utf-8")


def _push(branch: Branch, folder: Path) -> None:
    """Commit the files of `folder` to the branch and push it. Raises CrossoverError."""
    local = f"refs/heads/{branch.name}"
    before = _git_answer("rev-parse", "-q", "--verify", local)
    command = [sys.executable, "-m", "ghp_import", "--no-jekyll", "--message", "Report by crossover"]
    command += ["--remote", branch.remote, "--branch", branch.name, str(folder)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, errors="replace", encoding="utf-8")
    # ghp-import reports success even if git's import failed.
    after = _git_answer("rev-parse", "-q", "--verify", local)
    if done.returncode or not after or after in (before, _git_answer("rev-parse", "-q", branch.tracked)):
        raise CrossoverError(f"ghp-import could not make the commit:\n{indented(done.stdout + done.stderr)}\n{MEND}")
    _git(
        *("push", branch.remote, f"{local}:{local}"),
        step=f"Nothing changed on {branch.url}. If somebody else pushed meanwhile, publish again. If you are not "
        "allowed to push there, name another remote or branch with --remote or --branch",
    )


def _require_checkout() -> None:
    """Raise CrossoverError if git is not installed, or if the current folder is not in a working tree."""
    if not shutil.which("git"):
        raise CrossoverError(
            "git is not on PATH; install it, or publish to a folder or a zip file: --to site/, --to site.zip"
        )
    if _git_answer("rev-parse", "--is-inside-work-tree") != "true":
        why = _call_git("rev-parse", "--is-inside-work-tree").stderr.strip()
        raise CrossoverError(
            f"{Path.cwd()} is not in a git checkout ({why or 'a bare repository'}); run this in a clone of crossover, "
            "or publish to a folder or a zip file: --to site/, --to site.zip"
        )


def _call_git(*words: str) -> subprocess.CompletedProcess[str]:
    """Call git, and return the result even if it fails."""
    no_prompt = {} if sys.stdin and sys.stdin.isatty() else {"GIT_TERMINAL_PROMPT": "0"}
    return subprocess.run(
        ["git", *words],
        env=os.environ | {"LC_ALL": "C"} | no_prompt,
        stdin=subprocess.DEVNULL if no_prompt else None,
        capture_output=True,
        errors="replace",
        encoding="utf-8",
    )


def _git_answer(*words: str) -> str:
    """Git's output; empty if git fails."""
    done = _call_git(*words)
    return done.stdout.strip() if done.returncode == 0 else ""


def _git(*words: str, step: str) -> str:
    """Git's output. If git fails, raises CrossoverError with git's message and the next `step`."""
    done = _call_git(*words)
    if done.returncode:
        raise CrossoverError(f"git {words[0]} failed:\n{indented(done.stderr)}\n{step}")
    return done.stdout.strip()


def indented(output: str, lines: int = 15) -> str:
    """The last lines of a program's output, indented, without passwords in URLs."""
    return "\n".join(f"  {_without_password(line)}" for line in output.strip().splitlines()[-lines:])


def _without_password(text: str) -> str:
    """The text without user names and passwords in URLs.

    >>> without_password("https://me:secret@example.org/it.git")
    'https://example.org/it.git'
    """
    return re.sub(r"(\w+://)[^/@\s]+@", r"\1", text)
