"""When the cluster fails, a run loses no finished launch and keeps no unfinished one."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from clusters import PROMPT, OnCluster, Supply, hosts
from copies import copy_of_the_project
from machines import Machine, eventually
from slurm import cluster

LONG = {
    "weights": list(range(1, 31)),
    "rounds": {"at_least": 10_000, "at_most": 10_000},
    "budget_seconds": 10,
    "launches": 3,
}
"""Launches of the toy that use their whole budget, so that they last long enough to be disturbed."""
AWAY_SECONDS = 25
"""Time for more looks than five, after which Snakemake by default would forget its jobs."""


def measures(
    project: OnCluster, launch: int, placement: str = "node", results: str = "results", experiment: str = "toy"
) -> bool:
    """Whether a launch, of the toy unless another is named, is well under way, or has ended."""
    logs = (project.folder / results / "logs/quick" / experiment / placement).glob(f"{launch}-*.log")
    return any(log.read_text(encoding="utf-8").count(": visit ") >= 3 for log in logs)


def under_way(project: OnCluster) -> list[int]:
    """The launches of the toy that are being measured."""
    done = project.receipts()
    return [launch for launch in range(1, 10) if measures(project, launch) and f"toy/node/{launch}" not in done]


def raw_files(project: OnCluster) -> set[Path]:
    """All raw files, each of a launch that was measured to its end."""
    return set((project.folder / "results/raw").rglob("*.parquet"))


def node_of(project: OnCluster, launch: int) -> Machine:
    """The node on which a launch of the toy is being measured."""
    return next(node for node in project.slurm.nodes if supervisors(node, launch))


def supervisors(node: Machine, launch: int) -> list[int]:
    """The supervisors of this launch of the toy on a node: one, if it is measured there."""
    mine = re.compile(rf"-m crossover launch \S*/logs/\w+/toy/\w+/{launch}-\S*\.json ")
    return [each.pid for each in node.processes() if mine.match(" ".join(each.info["cmdline"][1:]))]


def hasty(project: OnCluster) -> str:
    """A variable with which Slurm's commands wait two seconds for an answer, not ten."""
    settings = project.folder / "hasty.conf"
    usual = (project.slurm.folder / "slurm/slurm.conf").read_text(encoding="utf-8")
    settings.write_text(f"{usual}MessageTimeout=2\n", encoding="utf-8")
    return f"SLURM_CONF={settings}"


ENDS = {1: "TIMEOUT", 2: "CANCELLED", 3: "NODE_FAIL"}
"""How Slurm ends the first job of each launch of a bad day."""


@dataclass(frozen=True)
class BadDay:
    """A run in which each launch had a fault."""

    project: OnCluster
    code: int
    said: str
    lost: Machine


@pytest.fixture(scope="module")
def bad_day(clusters: Supply) -> Iterator[BadDay]:
    """Launch 1 hangs until Slurm ends it, launch 2 is cancelled, launch 3 loses its node."""
    with cluster(clusters.shared) as slurm:
        project = OnCluster(copy_of_the_project(slurm.shared / "bad_day").folder, slurm)
        project.configure(toy=LONG)
        # Slurm's shortest limit, which ends before the supervisor's own.
        project.edit("profiles/slurm/config.yaml", "    ?rule:\n", "    ?rule:\n      runtime: 1\n")
        run = project.begin(*PROMPT, "toy")
        run.wait_until(lambda: all(measures(project, launch) for launch in ENDS))
        hung, cancelled, lost = (node_of(project, launch) for launch in ENDS)
        for process in hung.processes():
            if "crossover" in process.info["cmdline"]:
                # It may have ended meanwhile.
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGSTOP)
        slurm.login.run("scancel", f"--nodelist={cancelled.name}", "--user=root")
        lost.cut_power()
        # The part that it might have been writing.
        part = f".{project.log('toy/node/3').stem}.json.{lost.name}.7.part"
        (project.folder / "results/raw/quick/toy/node" / part).touch()
        yield BadDay(project, *run.end(), lost)


def test_the_run_ends_with_everything_measured(bad_day: BadDay) -> None:
    assert bad_day.code == 0, bad_day.said
    assert raw_files(bad_day.project) == set(bad_day.project.raw().values())
    assert len(raw_files(bad_day.project)) == len(ENDS)
    assert (bad_day.project.folder / "results/figures/toy").is_dir()
    assert bad_day.project.leftovers() == []
    [place] = hosts(bad_day.project)["toy/node/3"]
    assert place != bad_day.lost.name
    assert not any(word in bad_day.said for word in ("Traceback", "sacctmgr", "squeue"))


@pytest.mark.parametrize("launch", ENDS)
def test_a_launch_whose_job_slurm_ends_is_repeated_with_slurms_word(bad_day: BadDay, launch: int) -> None:
    end = (
        rf"Slurm ended its job: {ENDS[launch]} on node.*log: results/logs/quick/toy/node/.*attempt 1 of 3, repeated by"
    )
    assert re.search(rf"failed: toy node, launch {launch}: {end} itself$", bad_day.said, re.MULTILINE), bad_day.said


def test_ctrl_c_cancels_the_jobs_and_the_same_command_resumes(project: OnCluster) -> None:
    # Three for each node, so that some still run when Snakemake notices the end of the first, even on a busy machine.
    launches = range(1, 10)
    project.configure(toy=LONG | {"budget_seconds": 4, "launches": len(launches)})
    command = (*PROMPT, *project.due())
    run = project.begin(*command)
    run.wait_until(lambda: "measured in" in run.said and any(under_way(project)))
    before = run.said
    project.slurm.login.interrupt("--profile")
    code, said = run.end()
    assert code != 0
    assert len(said.removeprefix(before).splitlines()) <= 5, said.removeprefix(before)
    assert "Traceback" not in said
    assert eventually(lambda: project.slurm.jobs() == [], 20), project.slurm.jobs()
    assert project.leftovers() == []
    kept = raw_files(project)
    assert 0 < len(kept) < len(launches)
    project.succeed(*command)
    assert kept < raw_files(project) == set(project.raw().values())
    assert len(raw_files(project)) == len(launches)


def test_a_controller_that_is_down_for_several_looks_costs_nothing(project: OnCluster) -> None:
    project.configure(toy=LONG | {"launches": 1})
    run = project.begin("env", hasty(project), *PROMPT, *project.due())
    run.wait_until(lambda: measures(project, 1))
    project.slurm.stop_controller()
    time.sleep(AWAY_SECONDS)
    project.slurm.start_controller()
    code, said = run.end()
    assert code == 0, said
    assert "failed: toy" not in said
