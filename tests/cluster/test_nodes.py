"""Launches across hosts: each experiment is measured, on the requested hosts and interface."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from across import TWO_NODES, Launch, configured, copied
from clusters import OnCluster, Supply
from machines import Machine, eventually
from slurm import Cluster

from crossover.design.arm import arms_of

QUICKLY = {"rounds": {"at_least": 3, "at_most": 5}, "budget_seconds": 0.5}
EXPERIMENTS: dict[str, dict[str, Any]] = {
    "zmq_throughput": QUICKLY | {"sizes_bytes": [100, 20000]},
    "zmq_latency": QUICKLY | {"sizes_bytes": [100, 20000]},
    "mpi_pingpong": QUICKLY | {"elements": [1, 1000], "ceilings": ["C", "raw TCP", "raw Unix socket", "memcpy"]},
    "mpi_pingpong between engines": QUICKLY | {"elements": [1, 1000], "players": ["engine"]},
    "task_latency": QUICKLY
    | {"tasks": [4], "arms": ["leastload", "pure", "twisted", "concurrent.futures"], "rivals_per_launch": 3},
    "task_latency of others": QUICKLY | {"tasks": [4], "arms": ["leastload", "dask"], "engines": 1},
    "task_throughput": QUICKLY | {"sizes_bytes": [1000], "arms": ["leastload", "mpi4py.futures"]},
    "task_map": QUICKLY | {"durations_us": [1000], "engine_counts": [3]},
    "task_scaling": QUICKLY | {"engine_counts": [4], "hosts": 3, "arms": ["pure", "leastload"]},
}
CURVES = {
    "zmq_throughput": {
        "PUSH/PULL over tcp, 2000 messages or 64 MB in flight",
        "DEALER/ROUTER over tcp, 512 MB in flight, bursts of 0.05 s",
    },
    "zmq_latency": {"REQ/REP over tcp", "REQ/REP over tcp, legacy"},
}


def launch(project: OnCluster, case: str, **changes: Any) -> Launch:
    """A launch of one of EXPERIMENTS."""
    return configured(project, case, EXPERIMENTS[case] | changes)


@pytest.fixture(scope="module")
def here(clusters: Supply) -> OnCluster:
    """A copy of the project with its libraries built."""
    return copied(clusters.whole(), "nodes")


@pytest.fixture(scope="module", params=EXPERIMENTS)
def measured(request: pytest.FixtureRequest, here: OnCluster) -> Iterator[tuple[Launch, dict[str, Any], list[Any]]]:
    asked = launch(here, request.param)
    job = ("salloc", "--quiet", "--exclusive", f"--nodes={asked.settings.nodes}")
    facts, rows = asked.finish(asked.start("srun --mpi=pmi2", job))
    yield asked, facts, rows


def test_every_experiment_is_measured_across_hosts(measured: tuple[Launch, dict[str, Any], list[Any]]) -> None:
    asked, facts, rows = measured
    assert facts["launch"]["outcome"] == "measured", facts["launch"].get("reason")
    assert {row["arm"] for row in rows} == {arm.name for arm in arms_of(asked.settings)}
    assert {row["validity"] for row in rows} <= {"ok", "steal time", "swapped", "throttled"}
    assert all(row["value"] > 0 for row in rows)
    assert {row["protocol"] for row in rows} == CURVES.get(asked.case, {row["protocol"] for row in rows})


def test_ranks_use_the_requested_number_of_hosts_and_listen_on_their_network(
    measured: tuple[Launch, dict[str, Any], list[Any]], here: OnCluster
) -> None:
    asked, facts, _ = measured
    addresses = {node.name: node.address for node in here.slurm.nodes}
    assert len({rank["host"] for rank in facts["ranks"]}) == asked.settings.nodes
    assert len(facts["ranks"]) == asked.settings.ranks
    for rank in facts["ranks"]:
        assert (rank["interface"], rank["address"]) == ("eth0", addresses[rank["host"]])
    for node in here.slurm.nodes:
        left = json.loads(node.run("python3", "-c", "import json, os; print(json.dumps(os.listdir('/tmp')))"))
        assert [name for name in left if name.startswith("crossover") and not name.endswith(".lock")] == []


ONE_NODE = ("salloc", "--quiet", "--exclusive", "--nodes=1", "--ntasks=2")
KEY = "set `mpi:` in profiles/slurm/site.yaml"


@pytest.mark.parametrize(
    ("case", "asked", "hole", "words"),
    [
        (
            *("zmq_latency", ("srun --mpi=pmi2", ONE_NODE), "wrong set-up"),
            r"needs 2 host\(s\), but the ranks are on node\d: .*not have 2 nodes; set `mpi:` in profiles/slurm",
        ),
        ("zmq_latency", ("srun --mpi=none",), "wrong set-up", rf"1 rank\(s\) met instead of 2, .*{KEY}"),
        (
            *("task_latency", ("srun --mpi=pmi2 --distribution=plane=8",), "wrong set-up"),
            "fills one host before the next.*--distribution=cyclic",
        ),
        (
            *("zmq_latency", ("BINDING",), "wrong set-up"),
            rf"rank 0 may use only 1 of its job's \d+ logical processors on node\d.*{KEY}",
        ),
        (
            *("zmq_latency", ("srun --mpi=pmi2", TWO_NODES, "--interface", "ib0"), "wrong set-up"),
            r"no interface ib0.*`interface:` in profiles/slurm/site.yaml.*eth0 \(",
        ),
    ],
)
def test_a_wrong_job_launcher_or_interface_is_refused_with_the_key(
    here: OnCluster, case: str, asked: tuple[Any, ...], hole: str, words: str
) -> None:
    binding = here.folder / "binding"
    binding.write_text('#!/bin/sh\nranks=$2\nshift 2\nexec srun --mpi=pmi2 -n "$ranks" taskset -c 0 "$@"\n')
    binding.chmod(0o755)
    launcher, *others = asked
    kind, reason = launch(here, case).hole(launcher.replace("BINDING", str(binding)), *others)
    assert kind == hole
    assert re.search(words, reason), reason


# ---- a launch while it runs, and after a kill

LISTENER = re.compile(r"^LISTEN\s+\S+\s+\S+\s+(\S+):\d+\s+\S+\s+(?:users:\(\(\"([^\"]*)\")?", re.MULTILINE)
SLURMS_OWN = {"slurmd", "slurmstepd", "srun", "salloc", "slurmctld"}
"""Names of processes that may listen: the cluster's daemons, and the launcher, for its own ranks."""


def listening(machine: Machine) -> set[str]:
    """The addresses on a machine at which processes other than Slurm's listen."""
    return {place for place, name in LISTENER.findall(machine.run("ss", "-ltnp")) if name not in SLURMS_OWN}


def ours(machines: tuple[Machine, ...]) -> list[psutil.Process]:
    """A launch's processes on these machines, its servers included."""
    return [each for machine in machines for each in machine.processes() if _has(each, "crossover")]


def _has(process: psutil.Process, word: str) -> bool:
    return any(word in part for part in process.info["cmdline"])


@pytest.fixture
def busy(slurm: Cluster, tmp_path: Path) -> Iterator[tuple[Launch, subprocess.Popen[str]]]:
    """A launch of farms that is running on two nodes."""
    asked = launch(copied(slurm, tmp_path.name), "task_latency", budget_seconds=120, tasks=[4, 8], engines=2)
    process = asked.start()
    try:
        assert eventually(lambda: asked.log.exists() and ": visit " in asked.log.read_text(), 150)
        yield asked, process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def test_a_launch_listens_on_its_interface_alone_and_a_killed_supervisor_leaves_nothing(
    busy: tuple[Launch, subprocess.Popen[str]], slurm: Cluster
) -> None:
    asked, _ = busy
    used = [node for node in slurm.nodes if ours((node,))]
    assert len(used) == 2
    for node in used:
        assert node.address in listening(node)
        assert listening(node) <= {node.address, "127.0.0.1"}
    login = slurm.login.processes()
    [supervisor] = [each for each in login if each.info["cmdline"][1:4] == ["-m", "crossover", "launch"]]
    supervisor.kill()
    assert eventually(lambda: not ours(slurm.nodes), 60), ours(slurm.nodes)
    assert not asked.receipt.exists()


def test_if_a_rank_dies_those_on_other_hosts_die_and_a_hole_says_so(
    busy: tuple[Launch, subprocess.Popen[str]], slurm: Cluster
) -> None:
    asked, process = busy
    [driver] = [each for each in ours(slurm.nodes) if _is_rank(each, 0)]
    driver.kill()
    facts, rows = asked.finish(process)
    assert (facts["launch"]["hole"], rows) == ("crashed", [])
    assert eventually(lambda: not ours(slurm.nodes), 60), ours(slurm.nodes)


def _is_rank(process: psutil.Process, number: int) -> bool:
    return "rank" in process.info["cmdline"] and process.environ().get("SLURM_PROCID") == str(number)
