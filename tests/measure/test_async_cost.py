"""Do coroutines run on the loop of their arm's name, and does a doubled message make a block void?"""

import asyncio
import threading

import uvloop
import zmq
from launching import settings

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.experiments.async_cost import driver
from crossover.measure.messages.sockets import Curve
from crossover.measure.ranks import channel
from crossover.measure.sampling.contract import DAMAGED

CURVE = Curve("PUSH/PULL", "inproc")
SETTINGS = settings("async_cost", {"sizes_bytes": [64]})


def test_each_arm_with_coroutines_runs_on_the_loop_of_its_name():
    loops = driver.Ways({}).loops
    assert isinstance(loops["uvloop"], uvloop.Loop) and isinstance(loops["asyncio"], asyncio.SelectorEventLoop)


def test_a_doubled_message_makes_the_block_void():
    context = zmq.Context()
    ours, theirs = channel.within(context)
    receiving, sending = context.socket(zmq.PULL), context.socket(zmq.PUSH)
    receiving.bind("inproc://here")
    sending.connect("inproc://here")
    end = threading.Thread(target=driver.reply, args=(theirs, {CURVE: receiving}, SETTINGS), daemon=True)
    sender = driver.Sender(ours, {CURVE: sending}, SETTINGS)
    end.start()
    cell = Cell({"pattern": CURVE.pattern, "transport": CURVE.transport}, 64)
    assert sender.run(cell, Arm("blocking", "blocking"), 3).fault == ""
    sending.send(b"x" * 64)
    assert sender.run(cell, Arm("blocking", "blocking"), 3).fault == DAMAGED
    ours.send(None)
    end.join()
    context.destroy(linger=0)
