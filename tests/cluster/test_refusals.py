"""Settings that cannot work are refused before any job is submitted, with the reason and the key."""

from __future__ import annotations

import re

from clusters import SLURM, OnCluster
from copies import SMALL_MPI

ONE_LAUNCH = "results/raw/quick/toy/node/launch=1.parquet"


def refused(project: OnCluster, *arguments: str) -> str:
    """The output of a run that is refused before it has submitted a job."""
    code, said = project.run(*SLURM, *arguments)
    assert code == 1, said
    assert "Traceback" not in said
    assert project.slurm.jobs() == []
    assert not (project.folder / "results/raw").exists()
    return said


def test_array_jobs_in_which_every_task_would_run_the_first_launch(project: OnCluster) -> None:
    said = refused(project, "--slurm-array-jobs", "launch")
    assert "slurm-array-jobs is set (launch)" in said and "remove it" in said


def test_a_partition_that_does_not_exist(project: OnCluster) -> None:
    (project.folder / "profiles/slurm/site.yaml").write_text("partition: nonsense\n")
    said = refused(project, ONE_LAUNCH)
    assert "--partition=nonsense" in said and "Invalid partition name" in said
    assert "set `partition:` in profiles/slurm/site.yaml: choose one that" in said


def test_one_node_too_few_with_the_key_that_needs_only_one(project: OnCluster) -> None:
    project.configure(mpi_pingpong=SMALL_MPI)
    site = project.folder / "profiles/slurm/site.yaml"
    site.write_text("partition: single\n")
    said = refused(project)
    assert "--partition=single --nodes=2" in said and "Requested node configuration is not available" in said
    assert "`nodes: 1` there leaves out launches across hosts" in said
    site.write_text("partition: single\nnodes: 1\n")
    assert set(re.findall("Measuring mpi_pingpong, placement (\\w+)", project.succeed(*SLURM, "-n"))) == {"node"}
