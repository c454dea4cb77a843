"""Publishes to a branch of a git remote that is served as a web site, such as GitHub's and GitLab's pages.

ghp-import makes the commit, and creates the branch if needed. It does not touch the working tree.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from crossover.errors import CrossoverError
from crossover.report.render import origin
from crossover.share import git

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
        return git.without_password(git.ask("remote", "get-url", "--push", self.remote))

    @property
    def tracked(self) -> str:
        """Git's name for the branch as last fetched from the remote."""
        return f"refs/remotes/{self.remote}/{self.name}"

    def content(self) -> dict[str, str]:
        """The hash of each file on the remote's branch, as last fetched; empty without a branch."""
        lines = git.ask("ls-tree", "-r", "-z", self.tracked).split("\0")
        return {line.partition("\t")[2]: line.split()[2] for line in lines if line}


def look(remote: str, name: str) -> Branch:
    """Fetch a remote's branch. Raises CrossoverError if it cannot be fetched or must not be pushed to."""
    git.require_checkout()
    branch = Branch(remote, name)
    if not branch.url:
        others = ", ".join(git.ask("remote").split())
        raise CrossoverError(
            f"the checkout has no remote {remote!r}; "
            + (f"choose with --remote: {others}" if others else f"add one: git remote add {remote} URL")
        )
    if not git.ask("check-ref-format", "--branch", name):
        raise CrossoverError(f"{name!r} is not a valid name of a branch; choose another with --branch")
    step = f"Correct that, or name another remote with --remote; nothing was pushed to {branch.url}"
    if git.do("ls-remote", "--heads", remote, f"refs/heads/{name}", step=step):
        git.do("fetch", "--no-tags", remote, f"+refs/heads/{name}:{branch.tracked}", step=step)
    else:
        git.try_to("update-ref", "-d", branch.tracked)
    _refuse(branch)
    return branch


def _refuse(branch: Branch) -> None:
    name = branch.name
    if f"branch refs/heads/{name}" in git.ask("worktree", "list", "--porcelain").splitlines():
        raise CrossoverError(
            f"the branch {name} is checked out here, and publishing would move it under your files; "
            "switch to another (git switch -), or choose another with --branch"
        )
    local, remote = (git.ask("rev-parse", "-q", "--verify", ref) for ref in (f"refs/heads/{name}", branch.tracked))
    for commit, where in ((remote, f"on {branch.url}"), (local, "here")):
        if commit and not _is_ours(commit):
            raise CrossoverError(
                f"the branch {name} {where} is not a crossover report, and publishing would replace it; choose another "
                "with --branch, or delete that one"
            )
    for key in ("name", "email"):
        if not (os.environ.get(f"GIT_COMMITTER_{key.upper()}") or git.ask("config", f"user.{key}")):
            raise CrossoverError(
                f"git does not know your {key}, which a commit needs; set it: git config user.{key} ..."
            )


def _is_ours(commit: str) -> bool:
    page = git.ask("cat-file", "-p", f"{commit}:index.html")
    # An empty branch can be replaced too, but only if git has read it successfully.
    return is_ours(page.encode()) or not git.do("ls-tree", commit, step=MEND)


def is_ours(page: bytes) -> bool:
    """Whether crossover made this page."""
    return origin.MARK.encode() in page


def holds(branch: Branch, files: dict[str, Path]) -> bool:
    """Whether the remote's branch has exactly these files. Raises CrossoverError if a file cannot be read."""
    paths = [str(path) for path in files.values()]
    hashes = git.do("hash-object", "--no-filters", "--", *paths, step=MEND).split()
    return dict(zip(files, hashes, strict=True)) == branch.content()


def keep_domain(branch: Branch, files: dict[str, Path], folder: Path) -> None:
    """Add the branch's DOMAIN file to the files, if it has one."""
    if DOMAIN in branch.content():
        files[DOMAIN] = folder / DOMAIN
        domain = git.do("cat-file", "-p", f"{branch.tracked}:{DOMAIN}", step=MEND)
        files[DOMAIN].write_text(f"{domain}\n", encoding="utf-8")


def push(branch: Branch, folder: Path) -> None:
    """Commit the files of `folder` to the branch and push it. Raises CrossoverError."""
    local = f"refs/heads/{branch.name}"
    before = git.ask("rev-parse", "-q", "--verify", local)
    command = [sys.executable, "-m", "ghp_import", "--no-jekyll", "--message", "Report by crossover"]
    command += ["--remote", branch.remote, "--branch", branch.name, str(folder)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, errors="replace", encoding="utf-8")
    # ghp-import reports success even if git's import failed.
    after = git.ask("rev-parse", "-q", "--verify", local)
    if done.returncode or not after or after in (before, git.ask("rev-parse", "-q", branch.tracked)):
        raise CrossoverError(
            f"ghp-import could not make the commit:\n{git.indented(done.stdout + done.stderr)}\n{MEND}"
        )
    git.do(
        *("push", branch.remote, f"{local}:{local}"),
        step=f"Nothing changed on {branch.url}. If somebody else pushed meanwhile, publish again. If you are not "
        "allowed to push there, name another remote or branch with --remote or --branch",
    )
