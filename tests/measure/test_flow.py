"""Is a flow timed in its middle, bounded, and void if a message is lost or damaged?"""

import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import zmq

from crossover.measure.ranks.channel import within
from crossover.measure.zeromq import flow
from crossover.measure.zeromq.flood import Curve, receiving, sending
from crossover.measure.zeromq.flow import Bounds
from crossover.measure.zeromq.handover import HANDOVERS

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
        sockets = [context.socket(kind) for kind in curve.kinds]
        for socket in sockets:
            socket.set_hwm(0)
        sockets[1].bind("inproc://flow")
        sockets[0].connect("inproc://flow")
        yield ours, theirs, *sockets
    finally:
        context.destroy(linger=0)


def flowed(curve, n, bounds, arm="copy", send=lambda loop: loop, take=lambda loop: loop):
    """A flow, after `send` and `take` have wrapped its two loops."""
    with connection(curve) as (ours, theirs, sender, receiver):
        pull = take(receiving(receiver, curve, arm, len(PAYLOAD)))
        end = threading.Thread(target=flow.receive, args=(theirs, receiver, pull, len(PAYLOAD), n, bounds), daemon=True)
        end.start()
        push = send(sending(sender, curve, arm, PAYLOAD))
        found = flow.send(ours, sender, push, PAYLOAD, bounds.lead_in_seconds)
        end.join()
        return found


# A message of several parts cannot be received into one buffer.
ARMS = [(curve, arm) for curve in CURVES for arm in HANDOVERS if arm != "recv-into" or not curve.multipart]


@pytest.mark.parametrize(("curve", "arm"), ARMS)
@pytest.mark.parametrize("n", [1, 7, 5000])
def test_a_flow_of_any_arm_arrives_whole(curve, arm, n):
    found = flowed(curve, n, Bounds(100, 10**6, 0.002), arm)
    assert found.fault == ""
    assert found.timed_seconds > 0 and found.send_rate > 0


def test_thousands_of_lent_messages_are_collected_within_one_process():
    """More than the high-water marks of pyzmq's collecting socket; in a new process, before its collector starts."""
    program = """
import sys
sys.path[:0] = sys.argv[1:]
from crossover.measure.zeromq.sockets import unbound_collector
unbound_collector()
from test_flow import CURVES, Bounds, flowed
for _ in range(10):
    assert flowed(CURVES[0], 20_000, Bounds(2000, 10**6, 0.002), "no-copy").fault == ""
"""
    paths = [str(Path(__file__).parent), *sys.path]
    subprocess.run([sys.executable, "-c", program, *paths], check=True, timeout=200)


@pytest.mark.parametrize("messages", [1, 3, 4, 100])
def test_messages_in_flight_stay_within_the_bound(messages):
    sent, taken, most = [0], [0], [0]

    def send(loop):
        def counted(count):
            sent[0] += count
            most[0] = max(most[0], sent[0] - taken[0])
            loop(count)

        return counted

    def take(loop):
        def counted(count):
            got = loop(count)
            taken[0] += count
            return got

        return counted

    flowed(CURVES[0], 5000, Bounds(messages, 10**6, 0.01), send=send, take=take)
    assert 1 <= most[0] <= messages


def test_large_messages_are_bounded_by_their_bytes():
    bounds = Bounds(2000, 64_000_000, 0.03)
    for size in (1, 100, 32_000, 1_000_000, 20_000_000, 10**9):
        batches, each = bounds.batches(size)
        assert batches * each == 1 or (batches * each <= 2000 and batches * each * size <= 64_000_000)


def test_a_slow_start_is_not_timed():
    slow_seconds, n = 0.05, 1000

    def send(loop):
        began = time.perf_counter()

        def slow(count):
            if time.perf_counter() - began < slow_seconds:
                time.sleep(0.002)
            loop(count)

        return slow

    with_lead_in = flowed(CURVES[0], n, Bounds(2000, 10**6, 4 * slow_seconds), send=send)
    without = flowed(CURVES[0], n, Bounds(2000, 10**6, 1e-9), send=send)
    assert with_lead_in.timed_seconds < without.timed_seconds / 2


def test_the_senders_waits_are_not_in_the_time_of_its_calls():
    def take(loop):
        def slow(count):
            time.sleep(0.002)
            return loop(count)

        return slow

    found = flowed(CURVES[0], 400, Bounds(40, 10**6, 0.01), take=take)
    assert found.send_rate > 5 * 400 / found.timed_seconds


@pytest.mark.parametrize("which", ["lost", "damaged"])
def test_a_lost_or_damaged_message_voids_the_flow(which):
    def send(loop):
        return lambda count: loop(count - (which == "lost" and count > 1))

    def take(loop):
        if which == "lost":
            # The receiver requests the next batch without this message, as if the network had lost it.
            return lambda count: loop(count - (count > 1))
        return lambda count: loop(count) and b"another byte"

    assert flowed(CURVES[0], 500, Bounds(40, 10**6, 0.002), send=send, take=take).fault == ("lost or damaged messages")
