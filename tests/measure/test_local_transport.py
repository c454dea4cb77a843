"""Are blocks between two processes prepared before the clock, void after a bad message, and without leftovers?"""

import multiprocessing
import os
from dataclasses import replace
from types import SimpleNamespace

import psutil
import pytest
from launching import COMMON, ENDLESS, settings

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.experiments.local_transport import driver, ways
from crossover.measure.ranks import cores
from crossover.measure.sampling.contract import DAMAGED

TOLD = {"placement": "process", "sizes_bytes": [1, 100], "ceilings": []}
SETTINGS = settings("local_transport", TOLD)


@pytest.fixture(scope="module")
def parent():
    with driver.drive(SimpleNamespace(), SETTINGS) as made:
        yield made


@pytest.mark.parametrize("way", ["Pipe", "ZeroMQ ipc"])
def test_both_ends_of_a_block_run_on_the_cores_of_its_binding(parent, way):
    child = next(each for each in psutil.Process().children() if any("spawn_main" in word for word in each.cmdline()))
    for cell in driver.cells(replace(SETTINGS, bindings=("own", "shared", "free"))):
        binding = cell.keys.get("binding", "free")
        if binding in cores.BINDINGS:
            assert parent.run(cell, Arm(way, way), 2).fault == ""
            for end, cpus in zip((psutil.Process(), child), cores.BINDINGS[binding], strict=True):
                assert {frozenset(os.sched_getaffinity(thread.id)) for thread in end.threads()} == {
                    cpus or cores.ALLOWED
                }, cell
        else:
            assert parent.run(cell, Arm(way, way), 2).fault == cores.ONE_CORE
    cores.take({})


class Spoiled:
    """A way that damages the message to the child or its reply, or that leaves a message unread."""

    def __init__(self, way, sent=bytes, got=bytes, left=False):
        self.way, self.sent, self.got, self.left = way, sent, got, left

    def ping(self, payload, n):
        return self.got(self.way.ping(self.sent(payload), n))

    def pour(self, payload, n):
        return self.got(self.way.pour(self.sent(payload), n))

    def is_readable(self):
        return self.left or self.way.is_readable()


@pytest.mark.parametrize("pattern", ["round trips", "stream"])
@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        ({}, ""),
        ({"sent": lambda payload: payload[:-1] + bytes([payload[-1] ^ 1])}, DAMAGED),
        ({"got": lambda payload: payload[:-1] + bytes([payload[-1] ^ 1])}, DAMAGED),
        ({"got": lambda payload: b""}, DAMAGED),
        ({"left": True}, DAMAGED),
    ],
    ids=["as sent", "damaged", "damaged answer", "lost", "doubled"],
)
def test_a_bad_message_makes_the_block_void(parent, monkeypatch, pattern, spoil, fault):
    monkeypatch.setitem(parent.ways, "Pipe", Spoiled(parent.ways["Pipe"], **spoil))
    assert parent.run(Cell({"pattern": pattern}, 64), Arm("Pipe", "Pipe"), 3).fault == fault


def test_a_ceiling_without_a_compiler_has_its_reason():
    made = driver.Parent(None, {}, {}, "no compiler")
    block = made.run(Cell({"pattern": "round trips"}, 64), Arm("memcpy", "memcpy", ceiling=True), 1)
    assert block.fault == "no compiler"


def test_ceilings_are_round_trips():
    own = replace(SETTINGS, ceilings=("memcpy",))
    ceilings = {cell.keys["pattern"]: "memcpy" in cell.arms for cell in driver.cells(own)}
    assert ceilings == {"round trips": True, "stream": False}


def test_a_killed_child_crashes_the_launch(launch):
    one = launch("local_transport", COMMON | TOLD | ENDLESS | {"budget_seconds": 30})
    one.start_measuring()
    (rank,) = one.ranks()
    next(child for child in rank.children() if any("spawn_main" in word for word in child.cmdline())).kill()
    assert "the child of local_transport, which the launch needs, has ended" in one.hole("crashed")


def test_shared_memory_has_room_for_the_word_that_ends_a_stream_of_shorter_messages():
    ends = ways.Ends.made(multiprocessing.get_context("spawn"), 1)
    try:
        direction = ways.Direction(ends.blocks[0], ends.turns[0])
        direction.send(ways.WORD)
        assert direction.receive() == ways.WORD
        direction.memory.release()
    finally:
        for block in ends.blocks:
            block.close()
            block.unlink()
