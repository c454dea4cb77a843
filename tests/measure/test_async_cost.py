"""Do blocking calls, a poller and coroutines exchange the same messages, and does a bad message make a block void?"""

import asyncio
import threading

import pytest
import uvloop
import zmq
from launching import settings

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.experiments.async_cost import WAYS, driver
from crossover.measure.messages.sockets import KINDS, Curve
from crossover.measure.ranks import channel
from crossover.measure.sampling.contract import DAMAGED

CURVES = [Curve(pattern, "inproc") for pattern in ("REQ/REP", "PUSH/PULL")]
SETTINGS = settings("async_cost", {"sizes_bytes": [64]})


@pytest.fixture
def ends(monkeypatch):
    """Both ends in one process: the sender, the sockets of the other end, and its thread's function."""
    context = zmq.Context()
    ours, theirs = channel.within(context)
    sender, other = {}, {}
    for number, curve in enumerate(CURVES):
        first, second = KINDS[curve.pattern]
        other[curve], sender[curve] = context.socket(second), context.socket(first)
        other[curve].bind(f"inproc://{number}")
        sender[curve].connect(f"inproc://{number}")
    made, threads = driver.Sender(ours, sender, SETTINGS), []

    def start(spoil):
        class Spoiled(driver.Ways):
            def run(self, arm, curve, first, payload, n):
                return spoil(super().run(arm, curve, first, payload, n))

        monkeypatch.setattr(driver, "Ways", Spoiled)
        threads.append(threading.Thread(target=driver.reply, args=(theirs, other, SETTINGS), daemon=True))
        threads[0].start()
        return made

    yield start, sender
    ours.send(None)
    threads[0].join()
    context.destroy(linger=0)


def keys(curve):
    return {"pattern": curve.pattern, "transport": curve.transport}


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.pattern)
@pytest.mark.parametrize("way", WAYS)
def test_every_way_exchanges_all_messages(ends, curve, way):
    start, _ = ends
    sender = start(lambda got: got)
    for n in (1, 50):
        block = sender.run(Cell(keys(curve), 64), Arm(way, way), n)
        assert not block.fault
        ((metric, value),) = block.values.items()
        assert metric == ("throughput" if curve.pattern == "PUSH/PULL" else "round trip") and value > 0


def test_each_arm_with_coroutines_runs_on_the_loop_of_its_name():
    loops = driver.Ways({}).loops
    assert isinstance(loops["uvloop"], uvloop.Loop) and isinstance(loops["asyncio"], asyncio.SelectorEventLoop)


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.pattern)
def test_arms_take_turns_on_the_same_sockets(ends, curve):
    start, _ = ends
    sender = start(lambda got: got)
    for way in (*WAYS, *reversed(WAYS), *WAYS):
        assert not sender.run(Cell(keys(curve), 64), Arm(way, way), 200).fault


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.pattern)
def test_a_damaged_message_makes_the_block_void(ends, curve):
    start, _ = ends
    sender = start(lambda got: got[:-1] + bytes([got[-1] ^ 1]))
    assert sender.run(Cell(keys(curve), 64), Arm("blocking", "blocking"), 3).fault == DAMAGED


def test_a_doubled_message_makes_the_block_void(ends):
    start, sockets = ends
    sender = start(lambda got: got)
    sockets[CURVES[1]].send(b"x" * 64)
    assert sender.run(Cell(keys(CURVES[1]), 64), Arm("blocking", "blocking"), 3).fault == DAMAGED
