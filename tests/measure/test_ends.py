"""Does an interrupted launch of any experiment leave nothing behind, however it ends?"""

import os
import signal
from dataclasses import replace

import pytest
from launching import toy_project
from openssh import WHY_NO_SSHD

from crossover.config import schema
from crossover.design.experiments import declared
from crossover.design.settings import Rounds
from crossover.planning import plan


def among(*entrants):
    """Settings of a launch with these entrants; the reference is the bare exchange, which starts fast."""
    arms = ["bare zmq", *entrants]
    shared = {"arms": arms, "reference": "bare zmq", "rivals_per_launch": len(entrants)}
    return shared | {"ceilings": [], "placements": ["node"]}


CHANGED = {
    "task_throughput": among(
        *("leastload" if WHY_NO_SSHD else "leastload over ssh", "mpi4py.futures", "twisted", "dask"),
        *("concurrent.futures", "multiprocessing.Pool", "joblib"),
    ),
    **dict.fromkeys(("task_latency", "task_map", "task_scaling"), among("pure")),
    "zmq_message_size": {"arms": ["40 B struct", "64 B struct"]},
}
"""One has every kind of farm, and they need only builds that other tests need too."""
ENDLESS = {"budget_seconds": 1000, "rounds": Rounds(10**6, 3), "target_width": 1e-6}
TELLING = (
    "measure/launch/conduct.py",
    "            block = self._blocks.run(",
    '            print("a block runs", flush=True)\n            block = self._blocks.run(',
)


def settings(name):
    """Settings of an experiment's first launch on one host, at the smoke tier, that never ends by itself."""
    config = schema.complete({"tier": "smoke", "experiments": {name: CHANGED.get(name, {})}})
    own = plan.launch(config, name, config.experiments[name].placements[0], 1)
    return replace(own.settings, **ENDLESS)


@pytest.fixture(scope="module")
def telling(tmp_path_factory):
    """A copy of the code that prints a line when a block runs."""
    return toy_project(tmp_path_factory.mktemp("telling") / "project", telling=TELLING)


# Besides ranks, their launches have servers and workers of farms, or children of a driver.
MANY = ("local_transport", "task_throughput")


# Without a user's file, on one host.
HERE = sorted(
    name for name, own in declared().items() if not own.of_user and own.tiers.at("smoke").placements[0] != "nodes"
)


@pytest.fixture(params=[pytest.param(name, marks=[] if name in MANY else pytest.mark.long) for name in HERE])
def under_way(request, launch, telling):
    """A launch of an experiment that is running blocks."""
    built = request.getfixturevalue("variants" if request.param == "zmq_message_size" else "libraries")
    one = launch(request.param, settings(request.param), root=telling, libraries=list(built.iterdir()))
    one.start_measuring("a block runs")
    assert one.process.poll() is None, one.log.read_text()
    return one


def test_after_ctrl_c(under_way):
    under_way.process.send_signal(signal.SIGINT)
    assert under_way.process.wait(60) == 1
    assert not under_way.receipt.exists()
    under_way.leaves_nothing_but_its_file()


@pytest.mark.parametrize("under_way", MANY, indirect=True)
def test_after_a_kill_of_the_ranks_and_of_those_that_clean_up_after_them(under_way):
    groups = {os.getpgid(rank.pid) for rank in under_way.ranks()}
    for group in groups:
        os.killpg(group, signal.SIGKILL)
    under_way.hole("crashed")
