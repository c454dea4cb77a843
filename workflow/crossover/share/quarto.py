"""Runs `quarto publish gh-pages` in a private worktree of the checkout, to keep the user's files unchanged."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from crossover.errors import CrossoverError
from crossover.paths import REPORTS
from crossover.share.git import Checkout, indented

TARGET = ("origin", "gh-pages")
"""The only remote and branch that Quarto publishes to. Without a terminal, it does not create the branch."""

PROJECT = REPORTS / "_quarto.yml"


def found() -> str | None:
    """The path of Quarto, if it is installed."""
    return shutil.which("quarto")


def publish(program: str, checkout: Checkout, site: Path) -> None:
    """Push the files of `site` with Quarto, as if it had rendered them. Raises CrossoverError."""
    with tempfile.TemporaryDirectory(prefix="crossover-") as folder:
        tree = Path(folder) / "tree"
        checkout.do("worktree", "add", "--detach", "--no-checkout", str(tree), step="Correct that, then publish again")
        try:
            project = tree / "reports"
            project.mkdir()
            shutil.copyfile(PROJECT, project / PROJECT.name)
            (project / "index.qmd").write_text("---\ntitle: Report\n---\n", encoding="utf-8")
            shutil.copytree(site, project / "_site")
            done = subprocess.run(
                [program, "publish", TARGET[1], "--no-render", "--no-prompt", "--no-browser"],
                cwd=project,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
        finally:
            checkout.try_to("worktree", "remove", "--force", str(tree))
    if done.returncode:
        raise CrossoverError(
            f"{program} publish ended with code {done.returncode}:\n{indented(done.stdout)}\n"
            "Correct that, or remove quarto from PATH to publish with ghp-import"
        )
