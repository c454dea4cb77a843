"""Launches over several hosts rotate over a site's nodes, and a node with a slow link is named."""

from __future__ import annotations

import subprocess
from collections import Counter

import pyarrow.parquet as pq
import pytest
from clusters import PROMPT, OnCluster
from copies import Project
from slurm import Cluster

pytestmark = pytest.mark.alone

SLOW = "node2"

ACROSS = {
    "placements": ["nodes"],
    "elements": [100_000],
    "objects": ["float64 array"],
    "players": ["rank"],
    "arms": ["send", "Send"],
    "ceilings": ["raw TCP"],
    "launches": 6,
    "rounds": {"at_least": 3, "at_most": 3},
    "budget_seconds": 2,
}
"""Each of the three pairs of nodes twice."""


def test_a_node_with_a_throttled_link_is_named(project: OnCluster, slurm: Cluster) -> None:
    [node] = [node for node in slurm.nodes if node.name == SLOW]
    try:
        node.limit(100)
    except (subprocess.CalledProcessError, RuntimeError):
        pytest.skip("this kernel cannot throttle a link")
    names = [node.name for node in slurm.nodes]
    Project(project.folder).configure(mpi_pingpong=ACROSS)
    project.site(f"node_list: [{', '.join(names)}]")
    said = project.succeed(*PROMPT)

    results = project.folder / "results"
    launches = pq.read_table(results / "launches.parquet").to_pylist()
    assert Counter(row["hosts"] for row in launches) == {"node1,node2": 2, "node2,node3": 2, "node1,node3": 2}
    rows = pq.read_table(results / "hosts.parquet").to_pylist()
    worse = [row for row in rows if row["verdict"] == "worse"]
    assert {row["host"] for row in worse} == {SLOW}, rows
    [slow] = [row for row in worse if row["metric"] == "round trip"]
    assert (slow["launches_with"], slow["launches_without"]) == (4, 2) and slow["factor"] > 1, slow

    assert f"Slow host: launches with {SLOW} are " in said
    page = (results / "report/index.html").read_text()
    assert f"launches with the host <code>{SLOW}</code> are" in page
    assert "node1 + node2: 2, node1 + node3: 2, node2 + node3: 2" in page
