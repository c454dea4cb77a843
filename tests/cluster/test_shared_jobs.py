"""Launches that share a job; and jobs that an earlier run has left, because Snakemake was killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from clusters import PROMPT, OnCluster, recorded
from copies import SMALL_MPI
from machines import eventually
from test_faults import LONG, node_of, raw_files, supervisors, under_way

BOTH = ("toy", "mpi_pingpong")


@pytest.fixture
def two(project: OnCluster) -> OnCluster:
    """A project whose batches have two launches."""
    project.configure(
        toy=LONG | {"launches": 2, "budget_seconds": 4}, mpi_pingpong=SMALL_MPI | {"placements": ["node"]}
    )
    return project


@pytest.mark.core
def test_launches_share_a_job_but_not_with_those_that_repeat_them(two: OnCluster) -> None:
    said = two.succeed(*PROMPT, "--slurm-keep-successful-logs", *BOTH)
    assert "4 launches in 2 jobs" in said
    logs = [file.read_text(encoding="utf-8") for file in (two.folder / "results/logs/slurm").rglob("*.log")]
    assert [log.count("Building DAG of jobs") for log in logs] == [1, 1], "a job has one Snakemake"
    assert "4 of 4 launches measured" in said
    assert "of it inside timed blocks" in said
    # The end of a run repeats the estimate of its start.
    assert re.findall(r"about ([\d.]+) node-hours", said) == re.findall(r"([\d.]+) node-hours expected", said)
    found = list(recorded(two).values())
    assert {each["outcome"] for each in found} == {"measured"}
    assert len({each["job"] for each in found}) == 2
    for name in BOTH:
        assert len({each["job"] for each in found if each["experiment"] == name}) == 2
    for job in {each["job"] for each in found}:
        first, second = sorted(
            (each for each in found if each["job"] == job), key=lambda each: float(each["entering_seconds"])
        )
        assert first["host"] == second["host"]
        assert second["entering_seconds"] >= first["entering_seconds"] + first["wall_seconds"] - 0.1
    assert "No job memory information" not in said and "SLURM account" not in said and "sacct" not in said


def test_of_a_killed_batch_only_the_launch_under_way_is_measured_again(two: OnCluster) -> None:
    run = two.begin(*PROMPT, *BOTH)
    run.wait_until(lambda: 1 in under_way(two))
    done, first = raw_files(two), "mpi_pingpong/node/1" in two.receipts()
    [killed] = supervisors(node_of(two, 1), 1)
    os.kill(killed, signal.SIGKILL)
    code, said = run.end()
    assert code == 0, said
    assert "failed: toy node, launch 1:" in said
    assert "failed: mpi_pingpong node, launch 1:" not in said or not first
    assert done < raw_files(two) == set(two.raw().values())
    assert len(raw_files(two)) == 4
    assert two.leftovers() == []


def test_a_batch_whose_job_always_fails_has_the_reason_of_its_log_and_the_command(two: OnCluster) -> None:
    two.edit(
        "workflow/crossover/cli/measuring.py", "    _without_pandas()\n    launch =", "    import absent\n    launch ="
    )
    code, said = two.run(*PROMPT, *BOTH)
    assert code == 1
    early = "its job ended early: ModuleNotFoundError: No module named 'absent'"
    assert re.search(rf"{early} \(job \d+, log: results/logs/slurm/\S+\d+\.log\)", said), said
    assert said.count(early) > 1 and "its job ended early (log" not in said
    assert "4 launches of this run were not measured" in said
    [name] = re.findall(rf"not measured: (\w+), placement node, launch 1, 2 \(no raw file\): {early}; logs: ", said)
    assert re.search(rf"-R .*results/launches/quick/{name}/node/2-\w+\.0\.json", said)
    assert "not started: 2; to measure the rest, repeat" in said
    assert "did not complete successfully" not in said


def test_a_killed_batch_script_is_repeated(two: OnCluster) -> None:
    run = two.begin(*PROMPT, *BOTH)
    run.wait_until(lambda: 1 in under_way(two))
    [script] = [each for each in node_of(two, 1).processes() if "slurm_script" in " ".join(each.info["cmdline"][:2])]
    script.kill()
    code, said = run.end()
    assert code == 0, said
    assert "4 of 4 launches measured" in said and "attempt 1 of 3, repeated by itself" in said


@pytest.mark.parametrize("how", [pytest.param(signal.SIGKILL, marks=pytest.mark.core), signal.SIGHUP])
def test_after_snakemakes_death_the_same_command_measures_nothing_twice(
    project: OnCluster, how: signal.Signals
) -> None:
    launches = range(1, 10)
    project.configure(toy=LONG | {"budget_seconds": 4, "launches": len(launches)})
    run = project.begin(*PROMPT, "toy")
    run.wait_until(lambda: raw_files(project) != set() and any(under_way(project)))
    snakemakes = [each for each in project.slurm.login.processes() if "--profile" in each.info["cmdline"]]
    for each in snakemakes:
        each.send_signal(how)
    run.end()
    before = raw_files(project)
    said = project.succeed(*PROMPT, "toy")
    assert how == signal.SIGHUP or ("cancelled" in said and "left in Slurm" in said)
    assert before < raw_files(project) == set(project.raw().values())
    assert len(raw_files(project)) == len(launches)
    assert eventually(lambda: project.slurm.jobs() == [], 20)
    assert project.leftovers() == []


def test_a_run_on_a_second_host_is_refused(project: OnCluster) -> None:
    project.configure(toy=LONG | {"launches": 1})
    run = project.begin(*PROMPT, "toy")
    run.wait_until(lambda: any(under_way(project)))
    node = project.slurm.nodes[2]
    elsewhere = node.command(*PROMPT, "toy", folder=Path(project.folder))
    refused = subprocess.run(elsewhere, env=project.environment(), capture_output=True, text=True, timeout=60)
    assert refused.returncode == 1
    assert " on login) works in results" in refused.stderr + refused.stdout
    code, said = run.end()
    assert code == 0, said


def test_the_end_of_another_run_leaves_waiting_jobs_their_logs(project: OnCluster) -> None:
    """Whether it is refused, or works in another folder of results."""
    project.configure(toy=LONG | {"launches": 1, "budget_seconds": 1})
    others = ("sbatch", "--parsable", "--exclusive", "--nodes=3", "--output=/dev/null", "--wrap=sleep 300")
    other = project.slurm.login.run(*others).strip()
    run = project.begin(*PROMPT, "toy")
    run.wait_until(lambda: len(project.slurm.jobs()) > 1)
    code, said = project.run(*PROMPT, "toy")
    assert code == 1 and " on login) works in results" in said
    project.succeed(*PROMPT, "-n", "--config", "results=other", "--", "toy")
    project.slurm.login.run("scancel", other)
    code, said = run.end()
    assert code == 0 and "failed" not in said, said
