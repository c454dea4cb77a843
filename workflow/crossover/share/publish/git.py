"""Git as it is asked here: in one checkout, never waiting for a password where nobody can type one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from crossover.errors import CrossoverError


class Checkout:
    """A working tree of git's. Raises CrossoverError if `folder` is in none, or if there is no git."""

    def __init__(self, folder: Path):
        self.folder = folder
        if not shutil.which("git"):
            raise CrossoverError(
                "git is not on PATH; install it, or publish to a folder or a zip file: --to site/, --to site.zip"
            )
        if self.ask("rev-parse", "--is-inside-work-tree") != "true":
            said = self.try_to("rev-parse", "--is-inside-work-tree").stderr.strip()
            raise CrossoverError(
                f"{folder} is in no git checkout ({said or 'a bare repository'}); call this in a clone of the project, "
                "or publish to a folder or a zip file: --to site/, --to site.zip"
            )

    def try_to(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Call git, whatever comes of it."""
        asking = {} if sys.stdin and sys.stdin.isatty() else {"GIT_TERMINAL_PROMPT": "0"}
        return subprocess.run(
            ["git", *words],
            cwd=self.folder,
            env=os.environ | {"LC_ALL": "C"} | asking,
            stdin=None if not asking else subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )

    def ask(self, *words: str) -> str:
        """What git answers, or nothing if it fails."""
        done = self.try_to(*words)
        return done.stdout.strip() if done.returncode == 0 else ""

    def do(self, *words: str, step: str) -> str:
        """What git answers. Raises CrossoverError with what it said and the next `step` if it fails."""
        done = self.try_to(*words)
        if done.returncode:
            raise CrossoverError(f"git {words[0]} failed; it said\n{indented(done.stderr)}\n{step}")
        return done.stdout.strip()


def indented(said: str, lines: int = 15) -> str:
    """The last lines of what a program said, with no password that a URL in them holds."""
    return "\n".join(f"  {without_password(line)}" for line in said.strip().splitlines()[-lines:])


def without_password(text: str) -> str:
    """A text whose URLs do not tell by which name and token one logs in.

    >>> without_password("https://me:secret@example.org/it.git")
    'https://example.org/it.git'
    """
    return re.sub(r"(\w+://)[^/@\s]+@", r"\1", text)
