"""Does another user of the host get anything from the farms of a launch, or stop it?"""

import json
import re
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from launching import COMMON, listening

from crossover.config import schema

SHIPPED = schema.complete({}).farms
ARMS = {"bare zmq": SHIPPED["bare zmq"], "pure": SHIPPED["pure"], "dask": SHIPPED["dask"]}
SCHEDULER = "crossover.measure.farms.dask_without_pages"
STRANGER = Path(__file__).with_name("stranger.py")


def attacked(one):
    """What the stranger got from the running launch."""
    one.start_measuring()
    family = psutil.Process(one.process.pid).children(recursive=True)
    ports = {process: {port for _, port in listening(process)} for process in family}
    dask = sorted({port for each in family if SCHEDULER in each.cmdline() for port in ports[each]})
    every = sorted(set.union(*ports.values()))
    # Every user can read command lines, and take a port before a server listens on it.
    words = {word for each in family for text in command(each) for word in re.split(r"\D+", text)}
    assert not words & {str(port) for port in every}
    done = subprocess.run(
        [sys.executable, STRANGER, json.dumps(every), json.dumps(dask)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def command(process):
    """The command line of a process; empty if it has ended."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@pytest.fixture
def started(launch):
    """Makes launches with these farms, running long enough for the attack."""

    def make(**options):
        entrants = {name: entrant | (options if name != "bare zmq" else {}) for name, entrant in ARMS.items()}
        farming = {"arms": list(ARMS), "reference": "bare zmq", "ceilings": [], "entrants": entrants, "engines": 1}
        long = {"tasks": [1, 2, 3], "budget_seconds": 24, "rounds": {"at_least": 3, "at_most": 10**6}}
        return launch("task_latency", COMMON | farming | long)

    return make


def test_a_stranger_gets_nothing_and_the_launch_goes_on(started):
    one = started()
    assert attacked(one) == []
    assert one.process.wait(120) == 0
    assert one.facts["outcome"] == "measured", one.log.read_text()
    assert {row["arm"] for row in one.rows} == {*ARMS, "null"} and all(row["value"] for row in one.rows)


@pytest.mark.long
def test_without_encryption_the_same_attack_succeeds(started):
    got = attacked(started(encrypted=False))
    assert any(word.startswith("ran as ") for word in got) and any("bytes" in word for word in got)
