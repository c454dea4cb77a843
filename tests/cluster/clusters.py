"""A supply of test clusters, and a project whose commands run on one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest
from copies import Project
from machines import eventually
from slurm import Cluster, cluster

from crossover.records import record

SLURM = ("snakemake", "--profile", "slurm")
"""The bare command."""

PROMPT = (sys.executable, str(Path(__file__).with_name("impatient.py")), *SLURM[1:])
"""The same for tests that cannot wait long for Snakemake to notice the end of a job."""


def require(reason: str) -> None:
    """Skip the test if there is a reason why it cannot run here."""
    if reason:
        # A developer's machine may lack Slurm, but in the gate skipped tests would hide a failure.
        (pytest.fail if os.environ.get("CROSSOVER_CLUSTER") else pytest.skip)(reason)


@dataclass
class Supply:
    """Hands out an intact cluster: the last one if it still is, else a new one."""

    shared: Path
    _undo: ExitStack = field(default_factory=ExitStack)
    _last: Cluster | None = None

    def whole(self) -> Cluster:
        """A cluster without jobs, of three nodes that are idle and not throttled."""
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
    """Undo the changes to a cluster that can be undone; returns whether it is as it was at first."""
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
        """Wrap a command so that it runs on the login node, and is killed if it takes too long."""
        limited = ("timeout", "--signal=KILL", str(self.limit_seconds - 10), *command)
        return self.slurm.login.command(*limited, user=self.user, folder=self.folder)

    def site(self, facts: str) -> None:
        """Replace the facts of the site."""
        (self.folder / "profiles/slurm/site.yaml").write_text(f"{facts}\n", encoding="utf-8")

    def in_place_of(self, program: str, script: str) -> tuple[str, ...]:
        """The start of a command that calls this script of the shell in place of a program of Slurm."""
        folder = self.folder / "in-place"
        folder.mkdir(exist_ok=True)
        (folder / program).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (folder / program).chmod(0o755)
        return "env", f"PATH={folder}:{os.environ['PATH']}", "CROSSOVER_REFUSAL_SECONDS=2"

    def begin(self, *command: str) -> Run:
        """Start a command that the test will disturb."""
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
        """Its output so far."""
        return self._said.read_text()

    def wait_until(self, condition: Callable[[], bool], seconds: float = 120) -> None:
        """Wait for something that must happen while it runs."""
        assert eventually(lambda: condition() or self.process.poll() is not None, seconds), self.said
        assert self.process.poll() is None, self.said

    def end(self) -> tuple[int, str]:
        """Wait for its end; return its exit code and all its output."""
        return self.process.wait(timeout=OnCluster.limit_seconds), self.said


def recorded(project: Project, part: str = "launch") -> dict[str, Any]:
    """What each launch recorded of itself, or of its `ranks`, by its name; not if its raw file is gone."""
    raw = {name: file for name, file in project.raw().items() if file.exists()}
    return {name: record.metadata(record.read(file, record.MEASUREMENTS))[part] for name, file in raw.items()}


def hosts(project: Project) -> dict[str, set[str]]:
    """The hosts that each launch's ranks recorded."""
    return {name: {rank["host"] for rank in ranks} for name, ranks in recorded(project, "ranks").items()}
