"""On a Slurm that keeps accounts of jobs: they know how jobs ended, and a QOS limits how many there are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import accounts
import pytest
from clusters import PROMPT, OnCluster, recorded, require
from copies import copy_of_the_project
from machines import eventually
from slurm import Cluster, cluster, why_not
from test_faults import LONG, measures, node_of, raw_files

from crossover.slurm.submission import BIN

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
    copy = copy_of_the_project(keeping.shared / tmp_path.name)
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


def job_of(project: OnCluster, launch: int) -> str:
    """The number of the job that measured a launch of the toy."""
    return str(recorded(project)[f"toy/node/{launch}"]["job"])


def test_a_run_of_more_jobs_than_a_qos_allows_waits_and_measures_everything(project: OnCluster) -> None:
    launches = 2 * JOBS
    project.site(f"qos: {FEW}\nbatch_launches: 1")
    project.configure(toy={"launches": launches})
    said = project.succeed(*PROMPT, "toy")
    assert "Slurm accepts no further job now (QOSMaxSubmitJobPerUserLimit" in said and "failed: toy" not in said
    assert f"{launches} of {launches} launches measured" in said
    assert len({job_of(project, launch) for launch in range(1, launches + 1)}) == launches
    assert len(raw_files(project)) == launches


@pytest.mark.core
def test_a_preempted_job_is_repeated(project: OnCluster) -> None:
    project.configure(toy=LONG | {"launches": 1, "budget_seconds": 30})
    run = project.begin(*PROMPT, "toy")
    run.wait_until(lambda: measures(project, 1))
    urgent = ("sbatch", "--partition=urgent", "--exclusive", "--output=/dev/null", "--wrap=sleep 3")
    project.slurm.login.run(*urgent, f"--nodelist={node_of(project, 1).name}")
    code, said = run.end()
    assert code == 0, said
    [line] = [line for line in said.splitlines() if line.startswith("failed:")]
    assert "Slurm ended its job: PREEMPTED on node" in line and line.endswith("attempt 1 of 3, repeated by itself")
    assert len(raw_files(project)) == 1
