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

FARMS = {
    **{"arms": ["leastload", "pure"], "rivals_per_launch": 1, "tasks": [4], "launches": 1, "budget_seconds": 1},
    "rounds": {"at_least": 3, "at_most": 3},
}

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


@pytest.fixture(scope="module", params=[4, 128])
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


@pytest.mark.parametrize("tier", TIERS)
def test_slurm_accepts_every_launch_of_a_tier(project: OnCluster, tier: str) -> None:
    path = f"PYTHONPATH={project.folder / 'workflow'}"
    plan = PLAN.format(tier=tier, extra=submission.extra_options({}))
    code, said = project.run("env", path, "python", "-c", plan)
    assert (code, "ranks at most" in said) == (0, True), said


@pytest.mark.parametrize("narrow", [4], indirect=True)
def test_seven_ranks_are_measured_on_a_node_of_four_processors(project: OnCluster) -> None:
    project.configure(task_latency=FARMS | {"engines": 2, "placements": ["node"]})
    project.succeed(*PROMPT, *project.due())
    [ranks] = recorded(project, "ranks").values()
    assert Counter(rank["host"] for rank in ranks).most_common(1)[0][1] == 7


def test_hosts_of_different_width_get_the_same_number_of_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    wide = "NodeName=node1 CPUs=2 RealMemory=16000\nNodeName=node2 CPUs=16 RealMemory=16000"
    monkeypatch.setattr(slurm, "CONFIGURATION", re.sub("NodeName=.*", wide, slurm.CONFIGURATION))
    with cluster(shared, count=2) as uneven:
        project = OnCluster(copy_of_the_project(shared / "project").folder, uneven)
        project.configure(task_latency=FARMS | {"engines": 4, "placements": ["nodes"]})
        project.succeed(*PROMPT, "task_latency")
        [ranks] = recorded(project, "ranks").values()
    hosts = Counter(rank["host"] for rank in ranks)
    assert hosts["node1"] - hosts["node2"] in (0, 1), hosts


@pytest.mark.parametrize("narrow", [4], indirect=True)
def test_a_dry_run_counts_the_launches_that_are_wider_than_a_node(project: OnCluster) -> None:
    words = (
        r"4 of \d+ launches have more ranks on a host than it has logical processors, up to 7; their ranks take turns"
    )
    assert re.search(words, project.succeed(*SLURM, "-n", "--config", "tier=smoke"))
