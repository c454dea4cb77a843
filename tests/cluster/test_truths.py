"""Known truths: are the bandwidth of a throttled link and the latency of a delayed one measured correctly?"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from across import configured, copied
from clusters import Supply
from slurm import Cluster, cluster

pytestmark = pytest.mark.alone

MEGABITS_PER_SECOND = 20
PAYLOAD_SHARE = 1448 / 1514
"""The share of an Ethernet frame that TCP leaves to ZeroMQ."""

BRIEFLY = {
    "placements": ["nodes"],
    "rounds": {"at_least": 3, "at_most": 3},
    "fewest_rounds": 3,
    "budget_seconds": 5,
}


@pytest.fixture
def two_nodes(clusters: Supply) -> Iterator[Cluster]:
    """A cluster of two nodes, for one test."""
    with cluster(clusters.shared, count=2) as found:
        yield found


def measured(slurm: Cluster, folder: str, case: str, experiment: dict[str, Any], metric: str) -> dict[str, float]:
    """Each arm's median of a metric in a launch across the two nodes."""
    asked = configured(copied(slurm, folder), case, BRIEFLY | experiment)
    facts, rows = asked.finish(asked.start())
    assert facts["launch"]["outcome"] == "measured", facts["launch"]
    arms = {row["arm"] for row in rows}
    return {arm: median(row["value"] for row in rows if (row["arm"], row["metric"]) == (arm, metric)) for arm in arms}


@pytest.mark.core
def test_a_throttled_link_has_the_bandwidth_of_the_throttle(two_nodes: Cluster, tmp_path: Path) -> None:
    try:
        two_nodes.nodes[1].limit(MEGABITS_PER_SECOND)
    except (subprocess.CalledProcessError, RuntimeError):
        pytest.skip("this kernel cannot throttle a link")
    experiment = {
        "sizes_bytes": [100_000],
        "arms": ["copy", "no-copy"],
        "curves": ["PUSH/PULL over tcp"],
        # A block is 2.5 MB; of these the throttle lets 64 kB through at once.
        "block_seconds": 1.0,
    }
    found = measured(two_nodes, tmp_path.name, "zmq_throughput", experiment, "bandwidth")
    truth = MEGABITS_PER_SECOND / 8 * PAYLOAD_SHARE
    assert set(found) == {"copy", "no-copy", "null", "C copy"}
    # Other work on this machine slows transfers down, so the lower bound is generous; a wrong unit still fails.
    assert all(0.75 * truth < bandwidth < 1.04 * truth for bandwidth in found.values()), (found, truth)


DELAYED = {
    # A block has at least a hundred round trips.
    "zmq_latency": (0.008, {"sizes_bytes": [1], "arms": ["copy", "no-copy"], "curves": ["REQ/REP over tcp"]}),
    # A longer delay, because forwarding waits for the processors, on which ranks spin while they wait for MPI.
    "mpi_pingpong": (0.05, {"elements": [1], "arms": ["send", "Send"], "ceilings": ["C", "raw TCP"]}),
}
"""The one-way delay of a frame in each experiment's launch, in seconds, and the experiment's settings."""


@pytest.mark.parametrize("experiment", DELAYED)
def test_a_delayed_link_has_the_latency_of_the_delay(two_nodes: Cluster, tmp_path: Path, experiment: str) -> None:
    if not Path("/dev/net/tun").exists():
        pytest.skip("no TAP devices here to delay a link with")
    delay_seconds, settings = DELAYED[experiment]
    two_nodes.nodes[1].delay(delay_seconds)
    found = measured(two_nodes, tmp_path.name, experiment, settings, "round trip")
    # Twice the delay, plus the time of forwarding in user space.
    assert len(found) > 3
    assert all(2 * delay_seconds < seconds < 3 * delay_seconds for seconds in found.values()), found
