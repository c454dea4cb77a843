"""Does every entrant, in real processes, run every task, listen only locally and leave nothing behind?"""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from launching import COMMON, eventually, listening, toy_project
from launching import settings as of_launch
from openssh import needs_sshd

from crossover.config import schema
from crossover.design.arm import arms_of
from crossover.design.cell import Cell
from crossover.design.farms import declared
from crossover.experiments.task_throughput import driver as task_throughput
from crossover.farms.ipyparallel import Options
from crossover.farms.ipyparallel import farm as ipyparallel
from crossover.measure import farms
from crossover.measure.farms import tasks as farms_tasks
from crossover.measure.farms.server import short_temporary_folder
from crossover.measure.ranks.network import LOOPBACK
from crossover.measure.sampling.sampler import SELDOM
from crossover.records.holes import HoleKind, Refusal

SHIPPED = schema.complete({}).farms
POOLS = [
    *("concurrent.futures", "multiprocessing.Pool", "joblib", "multiprocessing.Pool map"),
    *("multiprocessing.Pool chunk 8", "concurrent.futures chunk 8", "joblib batch 1"),
]
PYTHON = [
    *("bare zmq", *POOLS, "mpi4py.futures", "mpi4py.futures chunk 8"),
    *("dask", "dask map", "twisted", "threads", "joblib threads"),
]
IPYPARALLEL = ["bare zmq", "plainrandom", "leastload msgpack", "leastload hwm 1", "ipyparallel map"]
LONG = {"tasks": [1, 2, 3], "budget_seconds": 30, "rounds": {"at_least": 3, "at_most": 10**6}}
SANE = {"ok", "steal time", "throttled", "swapped"}
EXPERIMENTS = {
    "task_latency": {"tasks": [3, 20]},
    "task_throughput": {"tasks": 5, "sizes_bytes": [10, 300000]},
    "task_map": {"durations_us": [1000], "work": ["sleep", "spin"], "durations": ["skewed"], "tasks_per_engine": 4},
}


def settings(experiment, arms, engines=1, **others):
    """Settings of a launch with these entrants; the reference is the bare exchange, which starts fast."""
    counted = (
        {"engines": engines} if experiment in ("task_latency", "task_throughput") else {"engine_counts": [engines]}
    )
    farming = {"arms": arms, "ceilings": [], "reference": arms[0]} | counted
    entrants = {"entrants": {name: SHIPPED[name] for name in arms}}
    return of_launch(experiment, COMMON | EXPERIMENTS[experiment] | farming | entrants | others)


@pytest.mark.parametrize(
    ("experiment", "arms"),
    # Another test has a launch for ipyparallel's empty tasks.
    [
        ("task_throughput", PYTHON),
        pytest.param("task_map", PYTHON, marks=pytest.mark.long),
        pytest.param("task_throughput", IPYPARALLEL, marks=pytest.mark.long),
    ],
    ids=["arrays", "durations", "arrays by ipyparallel"],
)
def test_every_entrant_runs_its_tasks_and_leaves_nothing(launch, experiment, arms):
    chosen = settings(experiment, arms, engines=2 if arms is PYTHON else 1)
    one = launch(experiment, chosen)
    assert one.run() == 0
    assert one.facts["outcome"] == "measured", one.log.read_text()
    assert {row["validity"] for row in one.rows} <= SANE
    assert all(row["value"] > 0 for row in one.rows)
    blocks = Counter(row["arm"] for row in one.rows)
    assert set(blocks) == {arm.name for arm in arms_of(chosen)}
    # An entrant that takes far longer than the reference has a third of the blocks.
    assert max(blocks.values()) == blocks[chosen.reference] == blocks["null"] <= SELDOM * min(blocks.values())
    one.leaves_nothing_but_its_file()
    assert "Traceback" not in one.log.read_text()


@pytest.mark.parametrize("entrant", POOLS)
def test_the_arrays_of_all_tasks_are_written_to_the_workers(entrant):
    """The kernel counts the bytes that this process writes."""
    given = task_throughput.tasks(settings("task_throughput", [entrant], engines=2, tasks=16), Cell({}, 100_000), 0.0)
    peers = SimpleNamespace(address=LOOPBACK)
    farm = farms.enter(peers, [1, 2], 2, SHIPPED[entrant])
    farm.start()
    farm.join()
    try:
        farm.submit(farms_tasks.echo, [])
        before = written_bytes()
        farm.submit(given.task, given.arguments)
        results = farm.wait()
        assert written_bytes() - before >= given.bytes == 16 * 100_000
    finally:
        farm.stop()
    assert all(map(given.same, results, given.arguments))


def written_bytes():
    return psutil.Process().io_counters().write_chars


@pytest.mark.long
@pytest.mark.parametrize("entrant", ["bare zmq", "leastload", "pure", "leastload msgpack", "dask", "twisted"])
def test_the_arrays_of_all_tasks_travel_over_the_network(launch, tmp_path, entrant):
    """The loopback of a network of its own counts the bytes of a launch."""
    counted = tmp_path / "counted"
    wrapper = ("unshare", "--net", "sh", "-c", f'ip link set lo up; "$@"; cat /proc/net/dev >{counted}', "sh")
    if os.getuid() or subprocess.run(["unshare", "--net", "ip", "link"], capture_output=True).returncode:
        pytest.skip("no network of its own here")
    one = launch("task_throughput", settings("task_throughput", [entrant], sizes_bytes=[300_000], tasks=16))
    assert one.start(*wrapper).wait(120) == 0
    (line,) = (line for line in counted.read_text().splitlines() if line.strip().startswith("lo:"))
    blocks = {(row["round"], row["position"]): row["n"] for row in one.rows}
    # As arguments and as results.
    assert int(line.split()[1]) >= 2 * 16 * 300_000 * sum(blocks.values())


EXTRAS = [
    pytest.param(
        entrant, marks=pytest.mark.skipif(not find_spec(farm.packages[0]), reason=f"make env EXTRA={farm.extra}")
    )
    for farm in declared().values()
    if farm.extra
    for entrant in farm.arms
]


@pytest.fixture
def extra(request, launch):
    """Prepares a launch with an extra, in a folder whose name is too long for the sockets of Ray and Parsl."""

    def prepare(experiment, **others):
        return launch(experiment, settings(experiment, ["bare zmq", request.param], engines=2, **others), "long" * 10)

    return prepare


@pytest.mark.parametrize("extra", EXTRAS, indirect=True)
def test_an_extra_runs_its_tasks_and_leaves_nothing(extra):
    one = extra("task_throughput")
    assert one.run() == 0
    assert {row["validity"] for row in one.rows} <= SANE, one.log.read_text()
    assert len({row["arm"] for row in one.rows}) == 3
    one.leaves_nothing_but_its_file()


@pytest.mark.parametrize("extra", EXTRAS, indirect=True)
def test_an_extra_ends_with_a_killed_supervisor(extra):
    one = extra("task_latency", **LONG)
    one.start_measuring()
    one.ends_with_killed_supervisor()


def test_another_process_reaches_a_socket_by_the_short_path(tmp_path, monkeypatch):
    folder = tmp_path / ("long" * 20)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    path = Path(short_temporary_folder.__wrapped__()) / "socket"
    assert len(os.fsencode(path)) < 40
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        connect = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
        assert subprocess.run([sys.executable, "-c", connect, path]).returncode == 0
    assert (folder / "socket").is_socket()


# ---- ends from outside


@pytest.fixture
def busy(launch):
    """A running launch of farms with servers, pools and threads."""
    one = launch("task_latency", settings("task_latency", [*PYTHON, "leastload"], **LONG))
    one.start_measuring()
    return one


def test_farms_listen_only_on_the_host_and_end_with_a_killed_supervisor(busy):
    addresses = {address for process in busy.processes() for address in listening(process)}
    assert len(addresses) > len(busy.ranks())
    assert {host for host, _ in addresses} == {"127.0.0.1"}
    busy.ends_with_killed_supervisor()


@pytest.mark.parametrize("pool", ["multiprocessing.Pool", pytest.param("concurrent.futures", marks=pytest.mark.long)])
def test_a_lost_worker_of_a_pool_ends_the_launch(launch, pool):
    one = launch("task_latency", settings("task_latency", ["bare zmq", pool], engines=2, **LONG))
    one.start_measuring()
    client = next(rank for rank in one.ranks() if rank.environ()["PMI_RANK"] == "0")
    next(child for child in client.children() if any("spawn_main" in word for word in child.cmdline())).kill()
    one.hole("crashed")


# ---- through a tunnel


@pytest.fixture
def tunnelled(launch):
    """A running launch whose client reaches its farm through an SSH tunnel; and all its processes."""
    one = launch("task_latency", settings("task_latency", ["bare zmq", "leastload over ssh"], **LONG))
    one.start_measuring()
    # As descendants, because sshd overwrites its environment, with the launch's mark.
    return one, psutil.Process(one.process.pid).children(recursive=True)


def alive(processes):
    """The processes that still run, without zombies that wait for process 1."""
    left = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                left.append(process)
    return left


def connected_to(process):
    """The ports at which a process has connections to others."""
    # A server's process for one connection may end during the test.
    with contextlib.suppress(psutil.NoSuchProcess):
        return {each.raddr.port for each in process.net_connections("tcp") if each.status == psutil.CONN_ESTABLISHED}
    return set()


def servers_of(launch):
    """The SSH server's current processes."""
    return [each for each in psutil.Process(launch.process.pid).children(recursive=True) if each.name() == "sshd"]


@needs_sshd
def test_the_client_reaches_its_farm_only_through_the_tunnel_and_nothing_is_left(tunnelled):
    one, family = tunnelled
    driver = next(rank for rank in one.ranks() if rank.environ()["PMI_RANK"] == "0")
    # The launch would end in seconds, but the next checks may take longer on a busy machine.
    driver.suspend()
    engine = next(rank for rank in one.ranks() if rank.environ()["PMI_RANK"] == "2")
    named = {
        name: [process for process in family if process.name() == name or name in process.cmdline()]
        for name in ("ssh", "sshd", "ipyparallel.controller")
    }
    ports = {name: {port for process in named[name] for _, port in listening(process)} for name in named}
    entries, controller = ports["ssh"], set.union(*map(served, named["ipyparallel.controller"]))
    assert len(connected_to(driver) & entries) > 3
    assert connected_to(driver) & controller == set()
    # The engines are on the controller's side of the tunnel.
    assert connected_to(engine) & controller and not connected_to(engine) & entries
    # A process of the SSH server connects the end of the tunnel to the controller.
    assert eventually(lambda: any(connected_to(process) & controller for process in servers_of(one)), 10)
    driver.resume()
    assert one.process.wait(120) == 0
    found = one.rows
    assert {row["validity"] for row in found} <= SANE
    assert "leastload over ssh" in {row["arm"] for row in found if row["value"]}
    one.leaves_nothing_but_its_file()
    assert not [process for process in family if process.is_running()]


def served(process):
    """The ports on which a process or its descendants listen."""
    return {port for each in [process, *process.children(recursive=True)] for _, port in listening(each)}


@needs_sshd
def test_the_tunnel_ends_with_a_killed_supervisor(tunnelled):
    one, family = tunnelled
    assert {"ssh", "sshd"} <= {process.name() for process in family}
    one.process.kill()
    one.process.wait()
    assert eventually(lambda: not alive(family)), alive(family)


# ---- missing programs and engines


def test_the_users_configuration_of_dask_does_not_change_the_arm(tmp_path):
    (tmp_path / "mine.yaml").write_text("distributed:\n  scheduler:\n    worker-saturation: 7\n", encoding="utf-8")
    code = (
        "import dask; from crossover.measure.farms import dask_without_pages; "
        "print(dask.config.get('distributed.scheduler.worker-saturation'))"
    )
    words = [sys.executable, "-c", code]
    told = subprocess.run(words, env=os.environ | {"DASK_CONFIG": str(tmp_path)}, capture_output=True, text=True)
    assert told.stdout.strip() not in ("", "7")


def test_a_wrong_import_of_ours_is_a_bug_and_no_missing_library(monkeypatch):
    def imported(name):
        raise ModuleNotFoundError(f"No module named '{name}'", name="crossover.measure.farm")

    monkeypatch.setattr(farms, "import_module", imported)
    with pytest.raises(ModuleNotFoundError):
        farms.find("dask")


def client():
    """A client of ipyparallel with two engines that nobody starts."""
    peers = SimpleNamespace(address=LOOPBACK)
    return ipyparallel.Client(peers, ranks=[1, 2], engines=2, options=Options(scheme="leastload"))


def test_engines_that_never_join_are_counted_and_their_controller_is_quoted(monkeypatch):
    monkeypatch.setattr(ipyparallel, "START_SECONDS", 3)
    farm = client()
    farm.start()
    try:
        farm.invitation()
        with pytest.raises(Refusal, match=r"0 of 2 engines .* of ipyparallel leastload, it") as found:
            farm.join()
        assert found.value.kind == HoleKind.DISTURBED
    finally:
        farm._server.stop()


def test_a_port_that_a_stranger_takes_first_is_a_passing_hole():
    farm = client()
    with socket.socket() as stranger:
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        stranger.bind((LOOPBACK, farm._reserved.numbers[0]))
        stranger.listen()
        farm.start()
        with pytest.raises(Refusal, match="another process took a port that ipyparallel leastload was about") as found:
            farm.invitation()
        farm._server.stop()
    assert found.value.kind == HoleKind.DISTURBED


@pytest.mark.long
def test_engines_that_join_unnoticed_by_the_client_are_found(launch, tmp_path):
    """Engines that join while the client connects cause no notification."""
    deaf = "    def _register_engine(self, message):\n        pass\n\n    def _stop_scheduling_tasks"
    root = toy_project(tmp_path / "project", deaf=("farms/ipyparallel/farm.py", "    def _stop_scheduling_tasks", deaf))
    one = launch("task_latency", settings("task_latency", ["leastload"], engines=2, tasks=[3]), root=root)
    assert one.run() == 0
    assert {row["validity"] for row in one.rows} <= SANE
    assert one.rows


@pytest.mark.parametrize(
    ("entrant", "program", "name"),
    [
        ("leastload", "ipyparallel.controller", "ipyparallel leastload"),
        pytest.param("dask", "crossover.measure.farms.dask_without_pages", "dask", marks=pytest.mark.long),
        pytest.param("twisted", "crossover.farms.twisted.farm", "twisted", marks=pytest.mark.long),
    ],
)
def test_a_server_that_ends_ends_the_launch(launch, entrant, program, name):
    one = launch("task_latency", settings("task_latency", ["bare zmq", entrant], **LONG))
    one.start_measuring()
    server = next(each for each in one.processes() if program in each.cmdline()[1:4])
    server.kill()
    assert f"{name}, which the farm needs, has ended" in one.hole("crashed")
