"""Are blocks between two processes prepared before the clock, void after a bad message, and without leftovers?"""

import multiprocessing
import os
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from launching import COMMON, ENDLESS, settings

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.experiments.local_transport import PINNED, driver, ways
from crossover.measure.sampling.contract import DAMAGED

TOLD = {"placement": "process", "sizes_bytes": [1, 100], "ceilings": []}
SETTINGS = settings("local_transport", TOLD)


@pytest.fixture(scope="module")
def parent():
    with driver.drive(SimpleNamespace(), SETTINGS) as made:
        yield made


@pytest.mark.parametrize("way", ["Pipe", "Pipe on one core"])
def test_each_block_has_its_prelude_before_the_clock(parent, monkeypatch, way):
    played = []

    def play(keys):
        played.append((keys["prelude"], len(os.sched_getaffinity(0))))
        time.sleep(0.1)

    monkeypatch.setattr(driver.prelude, "play", play)
    cores = len(os.sched_getaffinity(0))
    cells = [cell for cell in driver.cells(SETTINGS) if cell.x == 1]
    assert all(parent.run(cell, Arm(way, way), 2).seconds < 0.1 for cell in cells)
    pinned = 1 if way in PINNED else cores
    assert played == [("work", pinned), ("wait", pinned), ("work", pinned)]
    assert len(os.sched_getaffinity(0)) == cores


class Unreliable:
    """A way whose messages are handed over within the process, after `spoil` had the list of those on their way."""

    def __init__(self, spoil):
        self.way, self.spoil = [], spoil

    def ping(self, payload, n):
        return self._deliver(payload, n)

    def pour(self, payload, n):
        self._deliver(payload, n)
        return ways.WORD

    def _deliver(self, payload, n):
        self.way = [payload] * n
        self.spoil(self.way)
        return self.way.pop() if self.way else b""

    def is_readable(self):
        return len(self.way) >= 3


class Commands:
    """The child's words if it has the last message that was handed over."""

    def __init__(self, way):
        self.way, self.told = way, 0

    def send(self, command):
        self.told = 0

    def recv(self):
        self.told += 1
        payload = PAYLOADS[-1]
        return driver.checksum(payload) if self.told == 1 else (driver.checksum(self.way.last), False)


PAYLOADS = []


@pytest.mark.parametrize("pattern", ["round trips", "stream"])
@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (lambda way: None, ""),
        (lambda way: way.append(way[0]), DAMAGED),
        (lambda way: way.__setitem__(-1, way[-1][:-1] + b"!"), DAMAGED),
        (lambda way: way.clear(), DAMAGED),
    ],
    ids=["as sent", "doubled", "damaged", "lost"],
)
def test_a_bad_message_makes_the_block_void(pattern, spoil, fault):
    class Last(Unreliable):
        last = b""

        def _deliver(self, payload, n):
            PAYLOADS.append(payload)
            self.last = super()._deliver(payload, n)
            return self.last

    way = Last(spoil)
    made = driver.Parent(Commands(way), {"Pipe": way}, {}, "")
    made.payload = lambda size: PAYLOADS.append(os.urandom(size - 1) + b"a") or PAYLOADS[-1]
    assert made.run(Cell({"pattern": pattern}, 64), Arm("Pipe", "Pipe"), 3).fault == fault


def test_a_ceiling_without_a_compiler_has_its_reason():
    made = driver.Parent(None, {}, {}, "no compiler")
    block = made.run(Cell({"pattern": "round trips"}, 64), Arm("memcpy", "memcpy", ceiling=True), 1)
    assert block.fault == "no compiler"


def test_ceilings_are_round_trips():
    own = replace(SETTINGS, ceilings=("memcpy",))
    ceilings = {cell.keys["pattern"]: "memcpy" in cell.arms for cell in driver.cells(own)}
    assert ceilings == {"round trips": True, "stream": False}


def test_no_child_and_no_shared_memory_are_left(tmp_path):
    before = {*Path("/dev/shm").glob("psm_*")}
    with driver.drive(SimpleNamespace(), replace(SETTINGS, sizes_bytes=(10,))):
        assert multiprocessing.active_children()
    assert {*Path("/dev/shm").glob("psm_*")} <= before
    assert threading.active_count() < 20


def test_a_killed_child_crashes_the_launch(launch):
    one = launch("local_transport", COMMON | TOLD | ENDLESS | {"budget_seconds": 30})
    one.start_measuring()
    (rank,) = one.ranks()
    next(child for child in rank.children() if any("spawn_main" in word for word in child.cmdline())).kill()
    assert one.process.wait(60) == 0
    assert one.facts["hole"] == "crashed"
    assert "the child of local_transport, which the launch needs, has ended" in one.facts["reason"]
    one.leaves_nothing_but_its_file()
