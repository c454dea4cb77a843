"""Round trips between a REQ and a REP socket: what copying and zero-copy messages cost one at a time.

One block is n repetitions of `trips_per_repetition` round trips, each timed by itself, so that a block has
percentiles and not only a centre. Both ends send a buffer of their own, as the arm says, and drop what they receive.

In the `legacy` curves both ends send on the very message that they received, as pyzmq's `perf.py` does: from the
second trip on a zero-copy arm then lends the library its own message back, and no buffer of Python's is lent at all.

After a block each end compares the last message that it received with what the other one sends.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from time import perf_counter_ns
from typing import Any

import numpy as np
import zmq

from crossover.measure.channel import Channel
from crossover.measure.handover import HANDOVERS, TRANSPORTS, Message, Socket, address, unbounded, without
from crossover.measure.peers import Peers
from crossover.measure.sampler import Axis, Block, Cell, Metric
from crossover.plan import Arm, points

AXIS = Axis("message size", "bytes")
PERCENTILES = {"round trip, median": 50, "round trip, 95th percentile": 95, "round trip, 99th percentile": 99}
METRICS = (Metric("round trip", "s", "lower"), *(Metric(name, "s", "lower") for name in PERCENTILES))


def curves(settings: dict[str, Any]) -> dict[str, str]:
    """The transport of each curve that has a meaning in this placement, by the curve's name."""
    named = {name: name.split(" over ")[1].split(",")[0] for name in settings["curves"]}
    return {name: transport for name, transport in named.items() if transport in TRANSPORTS[settings["placement"]]}


def _legacy(name: str) -> bool:
    return name.endswith(", legacy")


def cells(settings: dict[str, Any]) -> list[Cell]:
    """One cell per curve and message size."""
    # What is re-sent must be a message of its own: there is none in a buffer that is kept.
    re_sent = without(settings, "recv-into")
    return [
        Cell(name, size, name, re_sent if _legacy(name) else ())
        for name in curves(settings)
        for size in points(settings["sizes_bytes"])
    ]


class Asker:
    """The end that asks, keeps the time and commands the other one."""

    def __init__(self, channel: Channel, sockets: dict[str, Socket], trips_per_repetition: int):
        self.channel = channel
        self.sockets = sockets
        self.trips_per_repetition = trips_per_repetition
        self.payload = b""

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Make `n` repetitions of so many round trips with messages of `cell.x` bytes."""
        if len(self.payload) != cell.x:
            self.payload = os.urandom(cell.x)
        trips = n * self.trips_per_repetition
        self.channel.send((cell.variant, arm.runs, trips, cell.x))
        answer = self.channel.receive()
        times_ns, got = self._ask(cell.variant, arm.runs, trips)
        asked, leftover = self.channel.receive()
        # A legacy answer is what was asked.
        expected = _checksum(self.payload) if _legacy(cell.variant) else answer
        sane = (asked, _checksum(got), leftover) == (_checksum(self.payload), expected, 0)
        seconds = (times_ns[-1] - times_ns[0]) / 1e9
        if not sane:
            return Block(seconds, fault="lost or damaged messages")
        each = np.percentile(np.diff(times_ns) / 1e9, list(PERCENTILES.values()))
        values = dict(zip(PERCENTILES, map(float, each), strict=True))
        return Block(seconds, values | {"round trip": seconds / trips})

    def _ask(self, name: str, arm: str, trips: int) -> tuple[list[int], Message]:
        """When each trip began, and when the last one ended, in ns; and the last answer."""
        socket, handover = self.sockets[name], HANDOVERS[arm]
        receive, buffer = handover.receiving(socket, len(self.payload))
        send = handover.sending(socket, self.payload)
        times = [0] * (trips + 1)
        if _legacy(name):
            resend, message = partial(socket.send, flags=0, copy=handover.copy), self.payload
            for trip in range(trips):
                times[trip] = perf_counter_ns()
                resend(message)
                message = receive()
            got: Message = message
        else:
            for trip in range(trips):
                times[trip] = perf_counter_ns()
                send()
                got = receive()
        times[trips] = perf_counter_ns()
        return times, got if buffer is None else buffer


@contextmanager
def drive(peers: Peers, settings: dict[str, Any]) -> Iterator[Asker]:
    """Connect one REQ socket per curve to the other end."""
    context: zmq.Context[Any] = zmq.Context()
    channel = peers.other_end(context, partial(answer, settings))
    sockets = {}
    for name in curves(settings):
        sockets[name] = unbounded(context, zmq.REQ)
        sockets[name].connect(channel.receive())
    yield Asker(channel, sockets, settings["trips_per_repetition"])
    channel.send(None)
    channel.receive()
    context.destroy(linger=0)


def serve(peers: Peers, settings: dict[str, Any]) -> None:
    """Be the end that answers on a rank of its own."""
    context: zmq.Context[Any] = zmq.Context()
    answer(settings, context, peers.channel(to=0))
    context.destroy(linger=0)


def answer(settings: dict[str, Any], context: zmq.Context[Any], channel: Channel) -> None:
    """Answer until told to stop."""
    sockets = {}
    for name, transport in curves(settings).items():
        sockets[name] = unbounded(context, zmq.REP)
        sockets[name].bind(address(transport))
        channel.send(sockets[name].getsockopt_string(zmq.LAST_ENDPOINT))
    payload = b""
    while command := channel.receive():
        name, arm, trips, size_bytes = command
        if len(payload) != size_bytes:
            payload = os.urandom(size_bytes)
        channel.send(_checksum(payload))
        got = _answer(sockets[name], _legacy(name), arm, trips, payload)
        channel.send((_checksum(got), sockets[name].poll(0)))
    for socket in sockets.values():
        socket.close()
    channel.send("closed")


def _answer(socket: Socket, legacy: bool, arm: str, trips: int, payload: bytes) -> Message:
    """Answer `trips` requests; the last of them."""
    handover = HANDOVERS[arm]
    receive, buffer = handover.receiving(socket, len(payload))
    send: Callable[[], Any] = handover.sending(socket, payload)
    if legacy:
        resend = partial(socket.send, flags=0, copy=handover.copy)
        for _ in range(trips):
            got: Message = receive()
            resend(got)
    else:
        for _ in range(trips):
            got = receive()
            send()
    return got if buffer is None else buffer


def _checksum(message: Message) -> int:
    return zlib.crc32(message.buffer if isinstance(message, zmq.Frame) else message)
