"""Launches over several hosts rotate over a site's nodes, and a node with a slow link is named."""

from __future__ import annotations

import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from statistics import geometric_mean

import pyarrow.parquet as pq
import pytest
from clusters import PROMPT, OnCluster
from copies import Project
from slurm import Cluster

pytestmark = pytest.mark.alone

MEGABITS_PER_SECOND = 100
BYTES_PER_ELEMENT = 8
ELEMENTS = 100_000
SLOW = "node2"

ACROSS = {
    "placements": ["nodes"],
    "elements": [ELEMENTS],
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
        node.limit(MEGABITS_PER_SECOND)
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
    assert (slow["launches_with"], slow["launches_without"]) == (4, 2)
    factors = _factors(results)
    assert 0.9 * min(factors) < slow["factor"] < 1.1 * max(factors), (slow, factors)

    assert f"Slow host: launches with {SLOW} are " in said
    page = (results / "report/index.html").read_text()
    assert f"launches with the host <code>{SLOW}</code> are" in page
    assert "node1 + node2: 2, node1 + node3: 2, node2 + node3: 2" in page


def _factors(results: Path) -> list[float]:
    """Each arm's round trip with the throttled node, which is that of the throttle, over the one without it."""
    truth = 2 * 8 * ELEMENTS * BYTES_PER_ELEMENT / (MEGABITS_PER_SECOND * 1e6)
    names = {row["launch"]: row["hosts"].split(",") for row in pq.read_table(results / "launches.parquet").to_pylist()}
    seconds: defaultdict[tuple[str, bool], list[float]] = defaultdict(list)
    for row in pq.read_table(results / "medians.parquet").to_pylist():
        if row["metric"] == "round trip":
            seconds[row["arm"], SLOW in names[row["launch"]]].append(row["value"])
    means = {key: geometric_mean(own) for key, own in seconds.items()}
    # The throttle lets 64 kB through at once.
    assert all(0.7 * truth < value < 1.5 * truth for (_, throttled), value in means.items() if throttled), seconds
    return [means[arm, True] / means[arm, False] for arm, throttled in means if throttled]
