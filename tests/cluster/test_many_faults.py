"""Faults in random order on one folder: no finished launch is lost, none is measured twice.

CROSSOVER_FAULTS=20 injects twenty instead of four.
"""

from __future__ import annotations

import os
import random
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from clusters import PROMPT, OnCluster, Run
from copies import SMALL_MPI
from machines import eventually
from test_faults import LONG, raw_files
from test_shared_jobs import BOTH

COUNT = int(os.environ.get("CROSSOVER_FAULTS", "4"))
LAUNCHES = 6


def end_snakemake(how: signal.Signals) -> Callable[[OnCluster], None]:
    """A fault that ends Snakemake by a signal."""

    def inject(project: OnCluster) -> None:
        for each in project.slurm.login.processes():
            if "--profile" in each.info["cmdline"]:
                each.send_signal(how)

    return inject


def cancel_a_job(project: OnCluster) -> None:
    """Somebody cancels one of the jobs."""
    if jobs := project.slurm.jobs():
        project.slurm.login.run("scancel", jobs[0].split()[0])


def stop_the_controller(project: OnCluster) -> None:
    """The controller is away for a moment."""
    project.slurm.stop_controller()
    time.sleep(5)
    project.slurm.start_controller()


def press_ctrl_c(project: OnCluster) -> None:
    """The user interrupts the run."""
    project.slurm.login.interrupt("--profile")


def refuse_submissions(project: OnCluster) -> None:
    """Slurm refuses jobs for a moment."""
    closed = closing(project)
    closed.touch()
    cancel_a_job(project)
    time.sleep(15)
    closed.unlink()


def take_the_partition_down(project: OnCluster) -> None:
    """The partition is down for a moment."""
    for state in ("DOWN", "UP"):
        project.slurm.login.run("scontrol", "update", "PartitionName=main", f"State={state}")
        time.sleep(5)


def preempt_a_job(project: OnCluster) -> None:
    """A more urgent job takes a node."""
    urgent = ("sbatch", "--partition=urgent", "--exclusive", "--nodes=1", "--output=/dev/null", "--wrap=sleep 3")
    project.slurm.login.run(*urgent)


def drain_a_node(project: OnCluster) -> None:
    """A node takes no jobs for a moment."""
    for state in (("State=DRAIN", "Reason=test"), ("State=RESUME",)):
        project.slurm.login.run("scontrol", "update", "NodeName=node2", *state)
        time.sleep(5)


def keep_the_controller_busy(project: OnCluster) -> None:
    """The controller answers no submission for a moment."""
    busy = closing(project).with_name("busy")
    busy.touch()
    cancel_a_job(project)
    time.sleep(15)
    busy.unlink()


def start_a_second_run(project: OnCluster) -> None:
    """Somebody starts a second run in the folder."""
    code, said = project.run(*PROMPT, *BOTH)
    # The first may have ended by then.
    assert code == 0 or "another run (" in said, said


FAULTS = {
    "killed": end_snakemake(signal.SIGKILL),
    "hang-up": end_snakemake(signal.SIGHUP),
    "Ctrl-C": press_ctrl_c,
    "cancelled job": cancel_a_job,
    "controller away": stop_the_controller,
    "SIGTERM": end_snakemake(signal.SIGTERM),
    "refused jobs": refuse_submissions,
    "partition down": take_the_partition_down,
    "second run": start_a_second_run,
    "preempted job": preempt_a_job,
    "drained node": drain_a_node,
    "busy controller": keep_the_controller_busy,
}

REASONS = re.compile(
    r"failed: \w+ node, launch \d+: (Slurm ended its job: (CANCELLED|NODE_FAIL|PREEMPTED)( on node\d)?"
    r"|Slurm refused its job: Invalid qos.*?|interrupted by SIGTERM|the workflow has ended"
    r"|already measured by.*?) ?[(;]"
)
"""Every reason that a launch of these runs can truly have."""


def closing(project: OnCluster) -> Path:
    """The file while which exists, Slurm refuses jobs."""
    return project.folder / "closed"


def command(project: OnCluster) -> tuple[str, ...]:
    """The start of a command with a stand-in for sbatch."""
    words = {"closed": "Invalid qos specification", "busy": "Socket timed out on send/recv operation"}
    refused = [
        f"[ ! -e {closing(project).with_name(file)} ] || {{ echo 'sbatch: error: {said}' >&2; exit 1; }}\n"
        for file, said in words.items()
    ]
    return project.in_place_of("sbatch", f'{"".join(refused)}exec /usr/bin/sbatch "$@"')


def delete_some(project: OnCluster, chance: random.Random) -> None:
    """Delete half of the launches, so that something is left to measure."""
    every = sorted(raw_files(project))
    for file in chance.sample(every, len(every) // 2):
        file.unlink()


@pytest.mark.timeout(60 + 120 * COUNT)
def test_no_order_of_faults_loses_a_finished_launch_or_measures_one_twice(project: OnCluster) -> None:
    chance = random.Random(COUNT)
    toy = LONG | {"budget_seconds": 4, "launches": LAUNCHES}
    project.configure(toy=toy, mpi_pingpong=SMALL_MPI | {"placements": ["node"], "launches": LAUNCHES})
    order = [name for _ in range(COUNT) for name in chance.sample(list(FAULTS), len(FAULTS))][:COUNT]
    for number, name in enumerate(order):
        if len(raw_files(project)) == 2 * LAUNCHES:
            delete_some(project, chance)
        before = raw_files(project)
        run = project.begin(*command(project), *PROMPT, *BOTH)
        wait_for_a_launch(run, project, before)
        time.sleep(chance.uniform(0, 5))
        known = raw_files(project)
        FAULTS[name](project)
        _, said = run.end()
        assert known <= raw_files(project), (number, name, said)
        assert "Traceback" not in said, (number, name, said)
        failures = [line for line in said.splitlines() if line.startswith("failed:")]
        assert all(map(REASONS.match, failures)), (number, name, failures)
    said = project.succeed(*PROMPT, *BOTH)
    assert raw_files(project) == set(project.raw().values()), said
    assert len(raw_files(project)) == 2 * LAUNCHES, said
    assert eventually(lambda: project.slurm.jobs() == [], 20)
    assert project.leftovers() == []


def wait_for_a_launch(run: Run, project: OnCluster, before: set[Path]) -> None:
    """Wait until the run has begun and something new is measured, or until it has ended."""

    def measured() -> bool:
        return "tier quick:" in run.said and bool(raw_files(project) - before)

    assert eventually(lambda: run.process.poll() is not None or measured(), 180), run.said
