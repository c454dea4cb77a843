"""Clusters one after another for many tests, and a project whose commands run on one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import pyarrow.parquet as pq
from copies import Project
from machines import eventually
from slurm import Cluster, cluster

from crossover.records import record

SLURM = ("snakemake", "--profile", "slurm")
"""The bare command."""

PROMPT = (sys.executable, str(Path(__file__).with_name("impatient.py")), *SLURM[1:])
"""The same for tests that have no time to wait until it is noticed that a job has ended."""


@dataclass
class Supply:
    """Hands out a cluster that is whole: the last one where it still is, else another."""

    shared: Path
    _undo: ExitStack = field(default_factory=ExitStack)
    _last: Cluster | None = None

    def whole(self) -> Cluster:
        """A cluster of three nodes, all idle and none throttled, without jobs."""
        if self._last is None or not _restored(self._last):
            self._undo.close()
            self._last = self._undo.enter_context(cluster(self.shared))
        return self._last

    def __enter__(self) -> Supply:
        self.shared.chmod(0o755)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._undo.close()


def _restored(last: Cluster) -> bool:
    """Whether a cluster is as it was at first, once what can be undone is."""
    try:
        last.login.run("scancel", "--user=root,stranger")
        for node in last.nodes:
            node.unlimit()
        return eventually(lambda: not last.jobs() and set(last.states().values()) == {"idle"}, 15)
    except (RuntimeError, subprocess.SubprocessError):
        return False


@dataclass(frozen=True)
class OnCluster(Project):
    """A copy of the project in a cluster's shared folder. Its commands run on the login node."""

    limit_seconds = 500

    slurm: Cluster
    user: str | None = None

    def command(self, *command: str) -> list[str]:
        """The command on the login node, killed if it takes too long."""
        limited = ("timeout", "--signal=KILL", str(self.limit_seconds - 10), *command)
        return self.slurm.login.command(*limited, user=self.user, folder=self.folder)

    def begin(self, *command: str) -> Run:
        """Start a command to which things are to happen."""
        said = self.folder / "said.txt"
        with said.open("wb") as file:
            return Run(
                subprocess.Popen(
                    self.command(*command), env=self.environment(), stdin=subprocess.DEVNULL, stdout=file, stderr=file
                ),
                said,
            )


@dataclass(frozen=True)
class Run:
    """A command that runs on the login node."""

    process: subprocess.Popen[bytes]
    _said: Path

    @property
    def said(self) -> str:
        """What it has said by now."""
        return self._said.read_text()

    def wait_until(self, condition: Callable[[], bool], seconds: float = 120) -> None:
        """Wait for something that must happen while it runs."""
        assert eventually(lambda: condition() or self.process.poll() is not None, seconds), self.said
        assert self.process.poll() is None, self.said

    def end(self) -> tuple[int, str]:
        """Its exit code, and all that it said."""
        return self.process.wait(timeout=OnCluster.limit_seconds), self.said


def hosts(project: Project) -> dict[str, set[str]]:
    """The hosts of each launch's ranks as they saw them, by the name of its raw file."""
    raw = project.folder / "results/raw/quick"
    found = {}
    for path in raw.rglob("*.parquet"):
        ranks = record.metadata(pq.read_table(path, partitioning=None))["ranks"]
        found[str(path.relative_to(raw))] = {rank["host"] for rank in ranks}
    return found
