"""A tournament of pairs names the slow one of four nodes, or a slow link; a rank that dies costs its launch only."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from clusters import PROMPT, OnCluster, Supply
from copies import copy_of_the_project
from slurm import cluster

pytestmark = pytest.mark.alone

MEGABITS_PER_SECOND = 400
SLOWER = 0.8 * MEGABITS_PER_SECOND
DELAY_SECONDS = 50e-6

PAIRS = "results/experiments/mpi_pairs/pairs.parquet"


@pytest.fixture
def project(clusters: Supply, tmp_path: Path) -> Iterator[OnCluster]:
    """A copy of the project that measures pairs of four nodes, all alike."""
    with cluster(clusters.shared, count=4) as slurm:
        copy = copy_of_the_project(slurm.shared / tmp_path.name)
        copy.configure(mpi_pairs={})
        yield OnCluster(copy.folder, slurm)


def throttle(project: OnCluster) -> None:
    """Throttle all links alike."""
    try:
        for node in project.slurm.nodes:
            node.limit(MEGABITS_PER_SECOND)
    except (subprocess.CalledProcessError, RuntimeError):
        pytest.skip("this kernel cannot throttle a link")


def named(project: OnCluster, *command: str) -> tuple[set[tuple[str, str | None]], str]:
    """The slow hosts and links of a run, and its output."""
    said = project.succeed(*PROMPT, *command)
    rows: list[dict[str, Any]] = pq.read_table(project.folder / PAIRS).to_pylist()
    assert {(row["host"], row["other"]) for row in rows if not row["other"]} == {
        (node.name, None) for node in project.slurm.nodes
    }
    return {(row["host"], row["other"]) for row in rows if row["verdict"] == "worse"}, said


def test_a_node_with_a_throttled_link_is_named_and_none_else(project: OnCluster) -> None:
    throttle(project)
    project.slurm.nodes[1].limit(SLOWER)
    slow, said = named(project)
    assert slow == {("node2", None)}, said
    assert "mpi_pairs: Of 4 hosts in 3 launches, 1 is slow" in said and "Slow host: node2 is " in said, said
    page = (project.folder / "results/report/index.html").read_text(encoding="utf-8")
    assert "Slow host: <code>node2</code> is " in page
    assert "Slow host: node2 is " in project.succeed("crossover", "ask", "mpi_pairs")


def test_a_node_with_a_delayed_link_is_named_and_none_else(project: OnCluster) -> None:
    if not Path("/dev/net/tun").exists():
        pytest.skip("no TAP devices here to delay a link with")
    for node in project.slurm.nodes:
        # Every link is forwarded in user space, which takes time too.
        node.delay(DELAY_SECONDS if node.name == "node2" else 0.0)
    slow, said = named(project, "mpi_pairs")
    assert slow == {("node2", None)}, said


def test_a_throttled_link_is_named_and_no_node(project: OnCluster) -> None:
    throttle(project)
    _, one, other, _ = project.slurm.nodes
    one.limit_towards(other, SLOWER, MEGABITS_PER_SECOND)
    other.limit_towards(one, SLOWER, MEGABITS_PER_SECOND)
    slow, said = named(project, "mpi_pairs")
    assert slow == {("node2", "node3")}, said
