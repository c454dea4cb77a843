"""Is a flow timed in its middle, bounded, and void if a message is lost or damaged?"""

import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import zmq
from launching import settings

from crossover.measure.messages import flow, sockets
from crossover.measure.messages.flow import Window
from crossover.measure.messages.handover import HANDOVERS, receiving, sending
from crossover.measure.messages.sockets import KINDS, Curve
from crossover.measure.ranks.channel import within

CURVES = (
    Curve("PUSH/PULL", "inproc", polled=False),
    Curve("DEALER/ROUTER", "inproc", polled=False),
    Curve("PUSH/PULL", "inproc", polled=True),
)
PAYLOAD = b"twelve bytes"


@contextmanager
def connection(curve):
    """A channel and a connected pair of sockets, sender first."""
    context = zmq.Context()
    try:
        ours, theirs = within(context)
        sockets = [context.socket(kind) for kind in KINDS[curve.pattern]]
        for socket in sockets:
            socket.set_hwm(0)
        sockets[1].bind("inproc://flow")
        sockets[0].connect("inproc://flow")
        yield ours, theirs, *sockets
    finally:
        context.destroy(linger=0)


def flowed(curve, n, window, arm="copy", send=lambda loop, count: loop(count), take=lambda loop, count: loop(count)):
    """A flow, its two loops wrapped as told."""
    with connection(curve) as (ours, theirs, sender, receiver):
        pull = partial(take, receiving(receiver, curve, arm, len(PAYLOAD)))
        received = (theirs, receiver, pull, len(PAYLOAD), n, window)
        end = threading.Thread(target=flow.receive, args=received, daemon=True)
        end.start()
        push = partial(send, sending(sender, curve, arm, PAYLOAD))
        found = flow.send(ours, sender, push, PAYLOAD, n, window)
        end.join()
        return found


# A message of several parts cannot be received into one buffer.
ARMS = [(curve, arm) for curve in CURVES for arm in HANDOVERS if arm != "recv-into" or not curve.multipart]


@pytest.mark.parametrize(("curve", "arm"), ARMS)
# Fewer than would fill the collecting socket of pyzmq, whose thread can be late.
@pytest.mark.parametrize("n", [1, 7, 500])
def test_a_flow_arrives_whole_whatever_the_arm(curve, arm, n):
    found = flowed(curve, n, Window(100, 10**6, 0.002), arm)
    assert found.fault == ""
    assert found.seconds > 0 and found.values["send rate"] > 0
    assert found.values["throughput"] == pytest.approx(n / found.seconds)


def test_thousands_of_lent_messages_are_collected_within_one_process():
    """More than the high-water marks of pyzmq's collecting socket; in a new process, before its collector starts."""
    program = """
import sys
sys.path[:0] = sys.argv[1:]
from crossover.measure.messages.sockets import unbound_collector
unbound_collector()
from test_flow import CURVES, Window, flowed
for _ in range(10):
    assert flowed(CURVES[0], 20_000, Window(2000, 10**6, 0.002), "no-copy").fault == ""
"""
    paths = [str(Path(__file__).parent), *sys.path]
    subprocess.run([sys.executable, "-c", program, *paths], check=True, timeout=200)


@pytest.mark.parametrize(("placement", "lifted"), [("process", True), ("node", False), ("nodes", False)])
def test_the_collector_of_two_processes_is_as_users_have_it(placement, lifted, monkeypatch):
    marks = []
    monkeypatch.setattr(sockets, "unbound_collector", lambda: marks.append("lifted"))
    with connection(CURVES[0]) as (ours, theirs, *_):
        peers = SimpleNamespace(placement=placement, other_end=lambda context, serve: ours)
        theirs.send("closed")
        drive, _ = sockets.ends(lambda *_: None, None)
        with drive(peers, settings("zmq_throughput", {"curves": [], "placement": placement})):
            pass
    assert bool(marks) is lifted


@pytest.mark.parametrize("messages", [1, 3, 4, 100])
@pytest.mark.parametrize("n", [5000, 5003])  # The last batch is whole or not.
def test_messages_in_flight_stay_within_the_bound(messages, n):
    sent, taken, most = 0, 0, 0

    def send(loop, count):
        nonlocal sent, most
        sent += count
        most = max(most, sent - taken)
        loop(count)

    def take(loop, count):
        nonlocal taken
        got = loop(count)
        taken += count
        return got

    flowed(CURVES[0], n, Window(messages, 10**6, 0.01), send=send, take=take)
    assert 1 <= most <= messages


def test_large_messages_are_bounded_by_their_bytes():
    window = Window(2000, 64_000_000, 0.03)
    for size in (1, 100, 32_000, 1_000_000, 20_000_000, 10**9):
        batches, each = flow.batches(window, size)
        assert batches * each == 1 or (batches * each <= 2000 and batches * each * size <= 64_000_000)


def test_a_slow_start_is_not_timed():
    slow_seconds, n, began = 0.05, 1000, 0.0

    def send(loop, count):
        if time.perf_counter() - began < slow_seconds:
            time.sleep(0.002)
        loop(count)

    def seconds(lead_in):
        nonlocal began
        began = time.perf_counter()
        return flowed(CURVES[0], n, Window(2000, 10**6, lead_in), send=send).seconds

    # On a busy machine, a thread can lose its core for longer than the whole flow lasts; but not five times in a row.
    assert min(seconds(4 * slow_seconds) for _ in range(5)) < seconds(1e-9) / 2


def test_the_senders_waits_are_not_in_the_time_of_its_calls():
    def take(loop, count):
        time.sleep(0.002)
        return loop(count)

    found = flowed(CURVES[0], 400, Window(40, 10**6, 0.01), take=take)
    assert found.values["send rate"] > 5 * 400 / found.seconds


def test_a_lost_message_voids_the_flow():
    def without_one(loop, count):
        return loop(count - (count > 1))

    # The receiver requests the next batch without this message, as if the network had lost it.
    lossy = flowed(CURVES[0], 500, Window(40, 10**6, 0.002), send=without_one, take=without_one)
    assert lossy.fault == "lost or damaged messages"
