"""Does another user of the host get anything from the farms of a launch, or stop it?"""

import json
import re
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from launching import COMMON, Launch, eventually

from crossover.config import schema
from crossover.records import record

SHIPPED = schema.complete({}).farms
ARMS = {"bare zmq": SHIPPED["bare zmq"], "pure": SHIPPED["pure"], "dask": SHIPPED["dask"]}
SCHEDULER = "crossover.measure.farms.dask_without_pages"
STRANGER = Path(__file__).with_name("stranger.py")


def launch(folder, **options):
    """A launch with these farms, running long enough for the attack."""
    entrants = {name: entrant | (options if name != "bare zmq" else {}) for name, entrant in ARMS.items()}
    farming = {"arms": list(ARMS), "reference": "bare zmq", "ceilings": [], "entrants": entrants, "engines": 1}
    long = {"tasks": [1, 2, 3], "budget_seconds": 24, "rounds": {"at_least": 3, "at_most": 10**6}}
    return Launch(folder, "task_latency", COMMON | farming | long)


def attacked(one):
    """What the stranger got from the running launch."""
    one.start()
    assert eventually(lambda: one.log.exists() and "cell 1 of" in one.log.read_text(), 60), one.log.read_text()
    family = psutil.Process(one.process.pid).children(recursive=True)
    ports = {process: listening(process) for process in family}
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


def listening(process):
    """The TCP ports on which a process listens."""
    try:
        return {each.laddr.port for each in process.net_connections("tcp") if each.status == psutil.CONN_LISTEN}
    except psutil.Error:
        return set()


@pytest.fixture
def started(tmp_path):
    """Makes launches, and kills their processes at the end."""
    made = []

    def make(**options):
        made.append(launch(tmp_path, **options))
        return made[-1]

    yield make
    for one in made:
        one.end()


def test_a_stranger_gets_nothing_and_the_launch_goes_on(started):
    one = started()
    assert attacked(one) == []
    assert one.process.wait(120) == 0
    table = record.read(one.output, record.MEASUREMENTS)
    assert record.metadata(table)["launch"]["outcome"] == "measured", one.log.read_text()
    rows = table.to_pylist()
    assert {row["arm"] for row in rows} == {*ARMS, "null"} and all(row["value"] for row in rows)


@pytest.mark.long
def test_without_encryption_the_same_attack_succeeds(started):
    got = attacked(started(encrypted=False))
    assert any(word.startswith("ran as ") for word in got) and any("bytes" in word for word in got)
