"""On a Slurm that keeps accounts of jobs: they know how jobs ended, and a QOS limits how many there are."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import accounts
import pytest
from clusters import PROMPT, OnCluster, hosts, recorded, require
from copies import copy_of_the_project
from machines import Machine, eventually
from slurm import Cluster, cluster, why_not
from test_faults import LONG, attempts, measures, node_of, raw_files

from crossover.slurm.submission import BIN

LAUNCHES = (1, 2)
FEW = "few"
"""A QOS under which a user may have JOBS jobs, waiting or running."""
JOBS = 2


@pytest.fixture(scope="module")
def keeping(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A Slurm that keeps accounts, with the QOS FEW."""
    require(why_not() or accounts.why_not())
    shared = tmp_path_factory.mktemp("shared")
    shared.chmod(0o755)
    with cluster(shared, keep_accounts=True) as found:
        accounts.change(found.login, "add", "qos", FEW, f"MaxSubmitJobsPerUser={JOBS}")
        accounts.change(found.login, "modify", "user", "root", "set", f"qos=normal,{FEW}")
        yield found


@pytest.fixture
def project(keeping: Cluster, tmp_path: Path) -> OnCluster:
    """A fresh copy of the project in which only the toy is configured."""
    return copied(keeping, tmp_path.name)


def copied(keeping: Cluster, name: str) -> OnCluster:
    copy = copy_of_the_project(keeping.shared / name)
    copy.configure(toy={})
    return OnCluster(copy.folder, keeping)


def test_the_accounts_answer_for_jobs_that_the_controller_has_forgotten(keeping: Cluster) -> None:
    login, listed = keeping.login, keeping.shared / "jobs"
    submit = ("sbatch", "--parsable", "--output=/dev/null")
    jobs = [login.run(*submit, f"--wrap={what}").strip() for what in ("true", "exit 3", "sleep 60")]
    login.run("scancel", jobs[-1])
    listed.write_text("\n".join(jobs) + "\n")
    assert eventually(lambda: not login.run("squeue", "--states=all", "--noheader"), 90)
    states = login.run("env", f"CROSSOVER_JOBS={listed}", str(BIN / "squeue"), "--format=%i|%T").split()
    assert states == [f"{job}|{end}" for job, end in zip(jobs, ("COMPLETED", "FAILED", "FAILED"), strict=True)]


def accounted(project: OnCluster) -> dict[str, str]:
    """The state of each ended job in the accounts, by its number."""
    columns = ("--noheader", "--parsable2", "--format=JobID,State")
    told = project.slurm.login.run("sacct", "--allocations", "--starttime=now-1days", *columns)
    return dict(line.split("|") for line in told.splitlines())


def job_of(project: OnCluster, launch: int) -> str:
    """The number of the job that measured a launch of the toy."""
    return str(recorded(project)[f"toy/node/{launch}"]["job"])


def test_a_run_of_more_jobs_than_a_qos_allows_waits_and_measures_everything(project: OnCluster) -> None:
    launches = 2 * JOBS
    (project.folder / "profiles/slurm/site.yaml").write_text(f"qos: {FEW}\nbatch_launches: 1\n")
    project.configure(toy={"launches": launches})
    said = project.succeed(*PROMPT, "toy")
    assert "QOSMaxSubmitJobPerUserLimit" in said
    assert f"{launches} of {launches} launches measured" in said
    assert len({job_of(project, launch) for launch in range(1, launches + 1)}) == launches
    assert len(raw_files(project)) == launches


@dataclass(frozen=True)
class BadDay:
    """A run in which launch 1 hung until Slurm ended it, and launch 2 lost its node."""

    project: OnCluster
    code: int
    said: str
    lost: Machine


@pytest.fixture(scope="module")
def bad_day(keeping: Cluster) -> BadDay:
    project = copied(keeping, "bad_day")
    project.configure(toy=LONG | {"launches": len(LAUNCHES)})
    # Slurm's shortest limit, which ends before the supervisor's own.
    project.edit("profiles/slurm/config.yaml", "    ?rule:\n", "    ?rule:\n      runtime: 1\n")
    run = project.begin(*PROMPT, "toy")
    run.wait_until(lambda: all(measures(project, launch) for launch in LAUNCHES))
    hung, lost = (node_of(project, launch) for launch in LAUNCHES)
    for process in hung.processes():
        if "crossover" in process.info["cmdline"]:
            # It may have ended meanwhile.
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGSTOP)
    lost.cut_power()
    return BadDay(project, *run.end(), lost)


def test_after_a_bad_day_everything_is_measured(bad_day: BadDay) -> None:
    assert bad_day.code == 0, bad_day.said
    assert raw_files(bad_day.project) == set(bad_day.project.raw().values())
    assert len(raw_files(bad_day.project)) == len(LAUNCHES)
    assert bad_day.project.leftovers() == []
    assert "Traceback" not in bad_day.said


def test_the_accounts_tell_why_each_job_ended_early(bad_day: BadDay) -> None:
    for launch, state in zip(LAUNCHES, ("TIMEOUT", "NODE_FAIL"), strict=True):
        assert attempts(bad_day.said, launch) == 2
        assert state in accounted(bad_day.project).values()


def test_a_node_that_failed_is_left_to_slurm(bad_day: BadDay) -> None:
    """The plugin would exclude it, with its neighbours in the job, from all later jobs."""
    lost, project = bad_day.lost.name, bad_day.project
    assert hosts(project)["toy/node/2"] != {lost}
    asked = ("sacct", "--noheader", "--allocations", "--format=SubmitLine%2000", f"--jobs={job_of(project, 2)}")
    submitted = project.slurm.login.run(*asked)
    assert "sbatch" in submitted and "--exclude" not in submitted


def failed_once(project: OnCluster, disturb: Callable[[], object], state: str) -> None:
    """A run in which a job is disturbed measures everything, and says how the job ended."""
    project.configure(toy=LONG | {"launches": 1, "budget_seconds": 30})
    run = project.begin(*PROMPT, "toy")
    run.wait_until(lambda: measures(project, 1))
    disturb()
    code, said = run.end()
    assert code == 0, said
    [line] = [line for line in said.splitlines() if line.startswith("failed:")]
    assert f"Slurm ended its job: {state} on node" in line and line.endswith("attempt 1 of 3, repeated by itself")
    assert len(raw_files(project)) == 1


@pytest.mark.core
def test_a_job_that_somebody_cancels_is_repeated(project: OnCluster) -> None:
    login = project.slurm.login
    failed_once(project, lambda: login.run("scancel", project.slurm.jobs()[0].split()[0]), "CANCELLED")


def test_a_preempted_job_is_repeated(project: OnCluster) -> None:
    urgent = ("sbatch", "--partition=urgent", "--exclusive", "--output=/dev/null", "--wrap=sleep 3")

    def preempt() -> None:
        project.slurm.login.run(*urgent, f"--nodelist={node_of(project, 1).name}")

    failed_once(project, preempt, "PREEMPTED")
