"""The README's commands on a cluster."""

from __future__ import annotations

import re

import pytest
from clusters import PROMPT, OnCluster, hosts, recorded
from copies import SMALL_MPI, Project
from slurm import Cluster


@pytest.mark.core
def test_a_run_measures_on_the_nodes_and_reports_on_the_login_node(
    finished_once: tuple[Project, str], slurm: Cluster
) -> None:
    project, said = finished_once
    places = hosts(project)
    counts = {"toy/node": 1, "mpi_pingpong/node": 1, "mpi_pingpong/nodes": 2}
    assert {name: len(each) for name, each in places.items()} == {
        f"{kind}/{launch}": count for kind, count in counts.items() for launch in (1, 2)
    }
    assert set.union(*places.values()) <= {node.name for node in slurm.nodes}
    page = (project.folder / "results/report/index.html").read_text()
    assert "Chart of pace against " in page and "Nodes not exclusive" not in page
    assert all(fact["exclusive"] for fact in recorded(project).values())
    assert project.leftovers() == []
    assert "6 of 6 launches measured" in said


@pytest.mark.core
def test_a_job_has_the_whole_memory_of_its_node(project: OnCluster, slurm: Cluster) -> None:
    project.succeed(*PROMPT, project.due()[0])
    jobs = slurm.login.run("scontrol", "--oneliner", "show", "job").splitlines()
    [job] = [each for each in jobs if f" WorkDir={project.folder} " in each]
    assert " MinMemoryNode=0 " in job and ",mem=16000M," in job


def test_page_and_terminal_warn_of_nodes_that_are_not_exclusive(project: OnCluster) -> None:
    project.site("exclusive: false")
    said = " ".join(project.succeed(*PROMPT).split())
    shared = [fact["exclusive"] for fact in recorded(project).values()]
    assert shared and not any(shared)
    warning = f"other jobs may have run beside {len(shared)} of {len(shared)} launch"
    assert warning in said
    assert warning in (project.folder / "results/report/index.html").read_text()


def test_beside_other_jobs_each_rank_has_a_processor_or_there_is_a_hole(project: OnCluster) -> None:
    project.configure(mpi_pingpong=SMALL_MPI | {"placements": ["node"], "launches": 1})
    project.site("exclusive: false")
    project.succeed(*PROMPT, "mpi_pingpong")
    [job] = {fact["job"] for fact in recorded(project).values()}
    assert " NumCPUs=2 " in project.slurm.login.run("scontrol", "--oneliner", "show", "job", job)
    project.site("exclusive: false\nsbatch_options: --overcommit")
    code, said = project.run(*PROMPT, "-F", "mpi_pingpong")
    assert code == 1
    assert "Slurm granted its job 1 logical processor(s) for 2 ranks, which would share them" in " ".join(said.split())


@pytest.mark.core
def test_the_estimate_counts_on_the_nodes_of_the_partition(project: OnCluster) -> None:
    project.configure(toy={"launches": 9})
    assert "on up to 3 nodes at a time" in project.succeed(*PROMPT, "-n")
    project.site("partition: single")
    assert "on one node, plus" in project.succeed(*PROMPT, "-n")


@pytest.mark.core
def test_a_single_experiment_is_remeasured(finished_once: tuple[Project, str], slurm: Cluster) -> None:
    project, _ = finished_once
    before = project.raw()
    said = OnCluster(project.folder, slurm).succeed(*PROMPT, "-F", "toy")
    assert {name.split("/")[0] for name, _ in project.raw().items() - before.items()} == {"toy"}
    assert all(file.exists() for file in before.values())
    assert len(re.findall(r"toy node, launch \d: measured in", said)) == 2
