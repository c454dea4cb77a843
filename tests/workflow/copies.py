"""Copies of the project that run the literal commands of the README, small enough to take seconds."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import yaml

ROOT = Path(__file__).parents[2]
PARTS = ("Snakefile", "slurm", "workflow", "config", "profiles", "reports", "envs")

SMALL_MPI = {
    "elements": [1, 1000],
    "players": ["rank"],
    "launches": 2,
    "rounds": {"at_least": 3, "at_most": 3},
    "budget_seconds": 0.2,
}


@dataclass(frozen=True)
class Project:
    """A copy of the project."""

    limit_seconds: ClassVar[float] = 240
    """Time limit of each command."""

    folder: Path

    def environment(self) -> dict[str, str]:
        """A user's shell, with the set-up's programs on the path and nothing else of ours."""
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return kept | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}

    def command(self, *command: str) -> list[str]:
        """Wrap a command so that it runs in the right place; here, unchanged."""
        return list(command)

    def start(self, *command: str) -> subprocess.Popen[str]:
        """Start a command in the copy, in a session of its own."""
        return subprocess.Popen(
            self.command(*command),
            cwd=self.folder,
            env=self.environment(),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            # A background job of a shell ignores Ctrl-C, and would pass that on.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def run(self, *command: str) -> tuple[int, str]:
        """Run a command in the copy; returns its exit code and output."""
        process = self.start(*command)
        try:
            said, _ = process.communicate(timeout=self.limit_seconds)
        finally:
            process.kill()
        return process.returncode, said

    def succeed(self, *command: str) -> str:
        """Run a command that must succeed; returns its output."""
        code, said = self.run(*command)
        assert code == 0, said
        return said

    def planned(self, *arguments: str) -> dict[str, list[str]]:
        """The plan of a run: its jobs' messages by rule, without targets."""
        said = self.succeed("snakemake", "--profile", "profiles/local", "-n", *arguments)
        opening = {
            "Building": "build",
            "Getting": "build",
            "Measuring": "launch",
            "Deriving": "tables",
            "Joining": "join",
            "Judging": "claims",
            "Recommending": "recommend",
            "Drawing": "figures",
            "Rendering": "report",
        }
        jobs: dict[str, list[str]] = {}
        for message in re.findall(r"^Job \d+: (.+)$", said, re.MULTILINE):
            jobs.setdefault(opening[message.split()[0]], []).append(message)
        return jobs

    def due(self, *arguments: str) -> list[str]:
        """The receipts that a run needs and does not have."""
        said = self.succeed("snakemake", "--profile", "profiles/local", "-n", *arguments)
        needed = re.findall(r"[^\s,]+/launches/[^\s,]+\.json", said)
        return sorted({path for path in needed if not (self.folder / path).exists()})

    def receipts(self, tier: str = "quick", results: str = "results") -> dict[str, Path]:
        """The last receipt of each launch of a tier, by its name, such as `toy/node/1`."""
        folder = self.folder / results / "launches" / tier
        every = sorted(folder.glob("*/*/*.json"), key=lambda path: path.stat().st_mtime_ns)
        return {f"{path.parent.relative_to(folder)}/{path.name.partition('-')[0]}": path for path in every}

    def raw(self, tier: str = "quick", results: str = "results") -> dict[str, Path]:
        """The raw file that each of these receipts names."""
        found = self.receipts(tier, results)
        return {name: self.folder / results / json.loads(path.read_text())["raw"] for name, path in found.items()}

    def log(self, name: str, tier: str = "quick", results: str = "results") -> Path:
        """The log of the launch with this name; fails if there is not exactly one."""
        [found] = (self.folder / results / "logs" / tier).glob(f"{name}-*.log")
        return found

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace a text that the file must contain."""
        path = self.folder / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    def configure(self, **experiments: object) -> None:
        """Choose the experiments and their settings, as a user would in config/config.yaml."""
        (self.folder / "config/config.yaml").write_text(yaml.safe_dump({"experiments": experiments}))

    def leftovers(self) -> list[Path]:
        """Hidden files in the results, such as part files, except those that belong there."""
        hidden = (path for path in (self.folder / "results").rglob(".*") if path.is_file())
        return [path for path in hidden if path.name not in (".claim", ".snakemake_timestamp")]


def copy_of_the_project(folder: Path) -> Project:
    folder.mkdir()
    for part in PARTS:
        if (ROOT / part).is_symlink() or (ROOT / part).is_file():
            shutil.copy(ROOT / part, folder / part, follow_symlinks=False)
        else:
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("*.pyc.*", "site.yaml"))
    project = Project(folder)
    shutil.copytree(Path(__file__).with_name("toy"), folder / "workflow/crossover/experiments/toy")
    return project
