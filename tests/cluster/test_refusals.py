"""Settings that cannot work are refused before any job is submitted, with the reason and the key."""

from __future__ import annotations

import re

import pytest
from clusters import PROMPT, SLURM, OnCluster
from copies import SMALL_MPI


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


@pytest.mark.parametrize(
    ("site", "words"),
    [
        (
            "partition: nonsense",
            (
                "--partition=nonsense",
                "Invalid partition name",
                "set `partition:` in profiles/slurm/site.yaml: choose one that",
            ),
        ),
        (
            "sbatch_options: --reservation=nonsense",
            ("--exclusive --overcommit --reservation=nonsense: Requested reservation is invalid",),
        ),
    ],
)
def test_a_partition_that_does_not_exist_or_an_option_that_slurm_does_not_grant(
    project: OnCluster, site: str, words: tuple[str, ...]
) -> None:
    project.site(site)
    said = refused(project, project.due()[0])
    assert all(each in said for each in words), said


def test_a_partition_of_one_node_leaves_out_launches_across_hosts_and_names_them(project: OnCluster) -> None:
    project.configure(mpi_pingpong=SMALL_MPI)
    project.site("partition: single")
    words = "Slurm refuses jobs of 2 nodes (Requested node configuration is not available)"
    planned = project.succeed(*SLURM, "-n")
    said = project.succeed(*PROMPT)
    for text in (planned, said):
        assert set(re.findall("Measuring mpi_pingpong, placement (\\w+)", text)) <= {"node"}
        assert (
            "not measured: mpi_pingpong (placement nodes) needs 2 nodes; this cluster gives 1; "
            f"{words}; set `partition:` in profiles/slurm/site.yaml" in text
        )
    assert "2 of 2 launches measured" in said
    page = (project.folder / "results/report/index.html").read_text()
    assert words in page
    project.site("partition: single\nnodes: 1")
    assert "not measured:" not in project.succeed(*SLURM, "-n")


def test_on_a_partition_of_short_jobs_launches_request_what_it_grants(project: OnCluster) -> None:
    project.configure(toy={"budget_seconds": 300})
    project.site("partition: brief")
    said = project.succeed(*SLURM, project.due()[0])
    assert "1 of 1 launch would request more than the 6 min that Slurm grants" in said
    assert "1 of 1 launch measured" in said


def test_a_launch_that_is_named_though_it_cannot_run_is_refused_with_slurms_words(project: OnCluster) -> None:
    project.configure(mpi_pingpong=SMALL_MPI)
    named = re.findall(r"\S+/nodes/1-\w+\.0\.json", project.succeed(*SLURM, "-n"))[0]
    project.site("partition: single")
    said = refused(project, named)
    assert "--partition=single --nodes=2" in said and "is not available; set `partition:`" in said


def test_without_the_controller_a_dry_run_waits_and_ends_with_the_reason(project: OnCluster) -> None:
    project.configure(mpi_pingpong=SMALL_MPI)
    project.slurm.stop_controller()
    try:
        code, said = project.run(*SLURM, "-n")
    finally:
        project.slurm.start_controller()
    assert code == 1 and "Traceback" not in said
    assert "waiting for Slurm (sbatch) ..." in said and "Slurm does not answer: sbatch: " in said
