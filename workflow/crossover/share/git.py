"""Calls git in the current folder, so that it never waits for a password without a terminal."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from crossover.errors import CrossoverError


def require_checkout() -> None:
    """Raise CrossoverError if git is not installed, or if the current folder is not in a working tree."""
    if not shutil.which("git"):
        raise CrossoverError(
            "git is not on PATH; install it, or publish to a folder or a zip file: --to site/, --to site.zip"
        )
    if ask("rev-parse", "--is-inside-work-tree") != "true":
        why = try_to("rev-parse", "--is-inside-work-tree").stderr.strip()
        raise CrossoverError(
            f"{Path.cwd()} is not in a git checkout ({why or 'a bare repository'}); run this in a clone of crossover, "
            "or publish to a folder or a zip file: --to site/, --to site.zip"
        )


def try_to(*words: str) -> subprocess.CompletedProcess[str]:
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


def ask(*words: str) -> str:
    """Git's output; empty if git fails."""
    done = try_to(*words)
    return done.stdout.strip() if done.returncode == 0 else ""


def do(*words: str, step: str) -> str:
    """Git's output. If git fails, raises CrossoverError with git's message and the next `step`."""
    done = try_to(*words)
    if done.returncode:
        raise CrossoverError(f"git {words[0]} failed:\n{indented(done.stderr)}\n{step}")
    return done.stdout.strip()


def indented(output: str, lines: int = 15) -> str:
    """The last lines of a program's output, indented, without passwords in URLs."""
    return "\n".join(f"  {without_password(line)}" for line in output.strip().splitlines()[-lines:])


def without_password(text: str) -> str:
    """The text without user names and passwords in URLs.

    >>> without_password("https://me:secret@example.org/it.git")
    'https://example.org/it.git'
    """
    return re.sub(r"(\w+://)[^/@\s]+@", r"\1", text)
