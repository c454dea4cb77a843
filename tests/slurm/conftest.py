"""Programs of Slurm that answer as a test says."""

import pytest

from crossover import programs
from crossover.slurm import cluster


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Makes a program in place of one of Slurm from a script of the shell."""
    folder = tmp_path / "slurm"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    # Twenty times as fast as a run.
    for name in ("PATIENCE_SECONDS", "ATTEMPT_SECONDS", "PAUSE_SECONDS", "QUIET_SECONDS"):
        monkeypatch.setattr(programs, name, getattr(programs, name) / 20)
    cluster.listed.cache_clear()

    def make(name, script):
        (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (folder / name).chmod(0o755)

    return make
