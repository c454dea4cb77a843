"""Does an interrupted launch of any experiment leave nothing behind, however it ends?"""

import os
import signal
from dataclasses import replace

import pytest
from launching import Launch, eventually, toy_project
from openssh import WHY_NO_SSHD

from crossover.config import schema
from crossover.design.settings import Rounds
from crossover.experiments import declared
from crossover.planning import plan
from crossover.records import record


def among(*entrants):
    """Settings of a launch with these entrants; the reference is the bare exchange, which starts fast."""
    arms = ["bare zmq", *entrants]
    shared = {"arms": arms, "reference": "bare zmq", "rivals_per_launch": len(entrants)}
    return shared | {"ceilings": [], "placements": ["node"]}


CHANGED = {
    "task_latency": among("leastload" if WHY_NO_SSHD else "leastload over ssh"),
    "task_throughput": among("concurrent.futures", "multiprocessing.Pool", "joblib", "dask"),
    "task_map": among("mpi4py.futures", "twisted"),
    "task_scaling": among("pure"),
    "zmq_message_size": {"arms": ["40 B struct", "64 B struct"]},
}
"""Together they have every kind of farm, and they need only builds that other tests need too."""
ENDLESS = {"budget_seconds": 1000, "rounds": Rounds(10**6, 3), "target_width": 1e-6}
TELLING = (
    "measure/launch/conduct.py",
    "            block = self._blocks.run(",
    '            print("a block runs", flush=True)\n            block = self._blocks.run(',
)
SHORT = (
    "design/settings.py",
    "math.ceil(90 + 3 * self.ranks + 4 * self.seconds)",
    "8",
)


def settings(name):
    """Settings of an experiment's first launch on one host, at the smoke tier, that never ends by itself."""
    config = schema.complete({"tier": "smoke", "experiments": {name: CHANGED.get(name, {})}})
    own = plan.launch(config, name, config.experiments[name].placements[0], 1)
    return replace(own.settings, **ENDLESS)


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    """Two copies of the code that print a line when a block runs; in the second, a launch has little time."""
    folder = tmp_path_factory.mktemp("projects")
    return toy_project(folder / "telling", telling=TELLING), toy_project(folder / "short", telling=TELLING, short=SHORT)


# Besides ranks, their launches have servers and workers of farms, or children of a driver.
MANY = ("local_transport", "task_latency", "task_map", "task_throughput")


@pytest.fixture(
    params=[pytest.param(name, marks=[] if name in MANY else pytest.mark.long) for name in sorted(declared())]
)
def launch(request, tmp_path, projects):
    """Prepares a launch, and kills its processes at the end."""
    prepared = []

    def prepare(project):
        built = request.getfixturevalue("variants" if request.param == "zmq_message_size" else "libraries")
        made = Launch(tmp_path, request.param, settings(request.param), root=project, libraries=list(built.iterdir()))
        prepared.append(made)
        return made

    yield prepare
    for one in prepared:
        one.end()


def runs(launch):
    """Whether a launch is running blocks."""
    return launch.log.exists() and "a block runs" in launch.log.read_text()


@pytest.fixture
def under_way(launch, projects):
    """A launch that is running blocks."""
    telling, _ = projects
    one = launch(telling)
    one.start()
    assert eventually(lambda: runs(one) or one.process.poll() is not None, 60)
    assert one.process.poll() is None, one.log.read_text()
    return one


def hole(launch):
    """The kind of hole that a launch left."""
    return record.metadata(record.read(launch.output, record.MEASUREMENTS))["launch"]["hole"]


def test_after_ctrl_c(under_way):
    under_way.process.send_signal(signal.SIGINT)
    assert under_way.process.wait(60) == 1
    assert not under_way.receipt.exists()
    under_way.leaves_nothing_but_its_file()


@pytest.mark.parametrize("launch", MANY, indirect=True)
def test_after_a_kill_of_the_ranks_and_of_those_that_clean_up_after_them(under_way):
    groups = {os.getpgid(rank.pid) for rank in under_way.ranks()}
    for group in groups:
        os.killpg(group, signal.SIGKILL)
    assert under_way.process.wait(60) == 0
    assert hole(under_way) == "crashed"
    under_way.leaves_nothing_but_its_file()


# After the time limit, the supervisor ends ranks as after Ctrl-C, so one experiment is enough.
@pytest.mark.parametrize("launch", ["task_throughput"], indirect=True)
def test_after_the_time_limit(launch, projects):
    _, short = projects
    one = launch(short)
    assert one.run() == 0
    assert hole(one) == "timed out"
    one.leaves_nothing_but_its_file()
