"""What happens to a run when the cluster fails it: nothing finished is lost, nothing half done is kept."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from clusters import PROMPT, OnCluster, Supply
from copies import copy_of_the_project
from machines import Machine, eventually

LAUNCHES = (1, 2, 3)
LONG = {"weights": list(range(1, 31)), "rounds": {"at_least": 10, "at_most": 400}, "budget_seconds": 10, "launches": 3}
"""Launches of the toy that last long enough for something to happen to them."""


def wait_for(condition: Callable[[], bool], seconds: float = 120) -> None:
    assert eventually(condition, seconds), "it did not happen"


def measures(project: OnCluster, launch: int) -> bool:
    """Whether a launch is well under way."""
    log = project.folder / f"results/logs/toy/node/launch={launch}.log"
    return log.exists() and "cell 3 of" in log.read_text()


def raw(project: OnCluster, launch: int) -> Path:
    return project.folder / f"results/raw/toy/node/launch={launch}.parquet"


def node_of(project: OnCluster, launch: int) -> Machine:
    """Where a launch is being measured."""
    told = project.slurm.login.run("squeue", "--noheader", "--states=running", "--format=%N %k").splitlines()
    [name] = [line.split()[0] for line in told if line.endswith(f"toy_node_{launch}")]
    return next(node for node in project.slurm.nodes if node.name == name)


def supervisor(node: Machine) -> list[int]:
    """The supervisor of the launch on a node."""
    return [each.pid for each in node.processes() if each.cmdline()[1:4] == ["-m", "crossover", "launch"]]


@dataclass(frozen=True)
class BadDay:
    """A run in which each launch met with a fault, and the controller too."""

    project: OnCluster
    code: int
    said: str
    stopped: Machine
    killed: Machine
    lost: Machine


@pytest.fixture(scope="module")
def bad_day(clusters: Supply) -> BadDay:
    """Launch 1 stands still until Slurm ends it, 2 is killed, 3 loses its node; then the controller fails."""
    slurm = clusters.whole()
    project = OnCluster(copy_of_the_project(slurm.shared / "bad_day").folder, slurm)
    project.configure(toy=LONG)
    # Slurm's shortest. The supervisor's own limit would come later.
    project.edit("profiles/slurm/config.yaml", "    ?rule:\n", "    ?rule:\n      runtime: 1\n")
    run = project.start(*PROMPT, "toy")
    wait_for(lambda: all(measures(project, launch) for launch in LAUNCHES))
    places = [node_of(project, launch) for launch in LAUNCHES]
    for process in places[0].processes():
        if "crossover" in process.cmdline():
            process.suspend()
    os.kill(supervisor(places[1])[0], signal.SIGKILL)
    places[2].cut_power()
    wait_for(lambda: slurm.states()[places[2].name].startswith("down"))
    slurm.stop_controller()
    time.sleep(5)
    slurm.start_controller()
    said, _ = run.communicate(timeout=400)
    return BadDay(project, run.returncode, said, *places)


def test_the_run_comes_to_its_end_with_everything_measured(bad_day: BadDay) -> None:
    assert bad_day.code == 0, bad_day.said
    assert all(raw(bad_day.project, launch).exists() for launch in LAUNCHES)
    assert (bad_day.project.folder / "results/figures/toy").is_dir()
    assert bad_day.project.leftovers() == []
    assert "Traceback" not in bad_day.said
