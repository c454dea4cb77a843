"""Launches with more ranks than a node has processors: Slurm accepts them in every tier, and they are measured."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import slurm
from clusters import PROMPT, SLURM, OnCluster, recorded
from copies import copy_of_the_project
from slurm import Cluster, cluster

from crossover.design.settings import TIERS
from crossover.slurm import submission

pytestmark = pytest.mark.usefixtures("clusters")

PLAN = """
from dataclasses import replace

from crossover.config import schema
from crossover.planning import plan
from crossover.slurm import acceptance

config = replace(schema.complete({{"tier": "{tier}"}}), hosts=2)
most = {{}}
for launch in plan.launches(config):
    most[launch.settings.nodes] = max(launch.settings.slurm_tasks, most.get(launch.settings.nodes, 0))
common = {{"runtime": 60, "slurm_extra": "{extra}"}}
acceptance.check(None, [common | {{"nodes": nodes, "tasks": tasks}} for nodes, tasks in most.items()])
print(max(most.values()), "ranks at most")
"""
"""Asks Slurm about the widest launches of a tier, as a run does."""


@pytest.fixture(scope="module", params=[4, 16, 32, 128])
def narrow(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A Slurm of two nodes with few processors."""
    shared = tmp_path_factory.mktemp("narrow")
    shared.chmod(0o755)
    with cluster(shared, count=2, processors=request.param) as found:
        yield found


@pytest.fixture
def project(narrow: Cluster, request: pytest.FixtureRequest) -> OnCluster:
    """A copy of the project on these nodes."""
    return OnCluster(copy_of_the_project(narrow.shared / re.sub(r"\W", "-", request.node.name)).folder, narrow)


def asked(project: OnCluster, tier: str, extra: str) -> tuple[int, str]:
    """The exit code and output of PLAN."""
    path = f"PYTHONPATH={project.folder / 'workflow'}"
    return project.run("env", path, "python", "-c", PLAN.format(tier=tier, extra=extra))


@pytest.mark.parametrize("tier", TIERS)
def test_slurm_accepts_every_launch_of_a_tier(project: OnCluster, tier: str) -> None:
    code, said = asked(project, tier, submission.extra_options({}))
    assert (code, "ranks at most" in said) == (0, True), said


def test_without_overcommit_slurm_would_refuse(project: OnCluster) -> None:
    code, said = asked(project, "paper", "--exclusive")
    assert code == 1
    assert "Requested node configuration is not available" in said


def test_a_job_and_its_ranks_have_all_processors_with_overcommit_too(narrow: Cluster) -> None:
    show = "echo $SLURM_JOB_CPUS_PER_NODE; srun -n 2 sh -c 'echo $SLURM_CPUS_ON_NODE'"
    job = ("salloc", "--quiet", "--exclusive", "--nodes=1", "--ntasks=2")
    plain = narrow.login.run(*job, "sh", "-c", show)
    shared = narrow.login.run(*job, "--overcommit", "env", "SLURM_OVERCOMMIT=1", "sh", "-c", show)
    assert plain == shared
    assert len(set(shared.split())) == 1


@pytest.mark.parametrize("narrow", [4], indirect=True)
def test_nine_ranks_are_measured_on_a_node_of_four_processors(project: OnCluster) -> None:
    project.configure(
        task_latency={
            "arms": ["leastload", "pure"],
            "rivals_per_launch": 1,
            "engines": 2,
            "tasks": [4],
            "placements": ["node"],
            "launches": 1,
            "rounds": {"at_least": 3, "at_most": 3},
            "budget_seconds": 1,
        }
    )
    project.succeed(*PROMPT, *project.due())
    [ranks] = recorded(project, "ranks").values()
    assert Counter(rank["host"] for rank in ranks).most_common(1)[0][1] == 9


def test_hosts_of_different_width_get_the_same_number_of_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    wide = "NodeName=node1 CPUs=2 RealMemory=16000\nNodeName=node2 CPUs=16 RealMemory=16000"
    monkeypatch.setattr(slurm, "CONFIGURATION", re.sub("NodeName=.*", wide, slurm.CONFIGURATION))
    with cluster(shared, count=2) as uneven:
        project = OnCluster(copy_of_the_project(shared / "project").folder, uneven)
        arms = {
            "arms": ["leastload", "pure"],
            "rivals_per_launch": 1,
            "engines": 4,
            "tasks": [4],
            "rounds": {"at_least": 3, "at_most": 3},
        }
        project.configure(task_latency=arms | {"placements": ["nodes"], "launches": 1, "budget_seconds": 1})
        project.succeed(*PROMPT, "task_latency")
        [ranks] = recorded(project, "ranks").values()
    hosts = Counter(rank["host"] for rank in ranks)
    assert hosts["node1"] - hosts["node2"] in (0, 1), hosts


@pytest.mark.parametrize("narrow", [4], indirect=True)
def test_a_dry_run_counts_the_launches_that_are_wider_than_a_node(project: OnCluster) -> None:
    words = (
        r"6 of \d+ launches have more ranks on a host than it has logical processors, up to 9; their ranks take turns"
    )
    assert re.search(words, project.succeed(*SLURM, "-n", "--config", "tier=smoke"))
