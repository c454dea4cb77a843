"""`quarto publish gh-pages`, in a private worktree of the checkout, so that it moves nobody's files."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from crossover.errors import CrossoverError
from crossover.paths import REPORTS
from crossover.share.publish.git import Checkout, indented

TARGET = ("origin", "gh-pages")
"""The remote and the branch that Quarto publishes to; it knows no other, and without a terminal it begins none."""

PROJECT = REPORTS / "_quarto.yml"


def found() -> str | None:
    """Quarto's program, where it is installed."""
    return shutil.which("quarto")


def publish(program: str, checkout: Checkout, site: Path) -> None:
    """Let Quarto push what is in `site`. It renders nothing: the site is its output. Raises CrossoverError."""
    with tempfile.TemporaryDirectory(prefix="crossover-") as folder:
        tree = Path(folder) / "tree"
        checkout.do("worktree", "add", "--detach", "--no-checkout", str(tree), step="Mend that, then publish again")
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
            f"{program} publish ended with code {done.returncode}; it said\n{indented(done.stdout)}\n"
            "Mend what it names, or take quarto off PATH to publish by ghp-import"
        )
