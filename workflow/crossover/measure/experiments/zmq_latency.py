"""Round trips between a REQ and a REP socket: what copying and zero-copy messages cost one at a time.

One block is n repetitions of `trips_per_repetition` round trips, each timed by itself, so that a block has
percentiles and not only a centre. Both ends send a buffer of their own, as the arm says, and drop what they receive.

In the `legacy` curves both ends send on the very message that they received, as pyzmq's `perf.py` does: from the
second trip on a zero-copy arm then lends the library its own message back, and no buffer of Python's is lent at all.

The ceiling is the same exchange written in C, over the same sockets; it times all trips together.

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

from crossover.measure.ceilings import zeromq
from crossover.measure.ranks.channel import Channel
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import Axis, Block, Cell, Metric
from crossover.measure.zeromq import sockets
from crossover.measure.zeromq.handover import HANDOVERS, Message, without
from crossover.measure.zeromq.sockets import Socket
from crossover.planning.curves import NAMED, in_placement
from crossover.planning.plan import Arm, points

AXIS = Axis("message size", "bytes")
PERCENTILES = {"round trip, median": 50, "round trip, 95th percentile": 95, "round trip, 99th percentile": 99}
CEILING = "C"
LIBRARIES = {"C": "zmq_pingpong"}
"""The library that the ceiling is in; read by the workflow, which builds it."""

METRICS = (Metric("round trip", "s", "lower"), *(Metric(name, "s", "lower") for name in PERCENTILES))


def curves(settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The keys of each curve that has a meaning in this placement, by the curve's name."""
    return in_placement(settings["curves"], settings["placement"])


def _legacy(name: str) -> bool:
    return bool(NAMED[name]["legacy"])


def _with_ceiling(settings: dict[str, Any]) -> list[str]:
    """The curves that C has too."""
    return [name for name in curves(settings) if settings["ceilings"] and not _legacy(name)]


def cells(settings: dict[str, Any]) -> list[Cell]:
    """One cell per curve and message size."""
    # What is re-sent must be a message of its own: there is none in a buffer that is kept, nor in C's.
    re_sent = without(settings, "recv-into", CEILING)
    return [
        Cell(keys, size, name, re_sent if _legacy(name) else ())
        for name, keys in curves(settings).items()
        for size in points(settings["sizes_bytes"])
    ]


class Asker:
    """The end that asks, keeps the time and commands the other one."""

    def __init__(self, channel: Channel, asking: dict[str, Socket], settings: dict[str, Any]):
        self.channel = channel
        self.sockets = asking
        self.trips_per_repetition = settings["trips_per_repetition"]
        self.payload = b""
        exchange = partial(zeromq.pingpong, first=True)
        self.exchanges, self.no_ceiling = sockets.in_c(channel, exchange, asking, _with_ceiling(settings))

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Make `n` repetitions of so many round trips with messages of `cell.x` bytes."""
        if arm.ceiling and self.no_ceiling:
            return Block(0.0, fault=self.no_ceiling)
        if len(self.payload) != cell.x:
            self.payload = os.urandom(cell.x)
        trips = n * self.trips_per_repetition
        self.channel.send((cell.variant, arm.runs, trips, cell.x))
        answer = self.channel.receive()
        if arm.ceiling:
            inbox = np.zeros(cell.x, np.uint8)
            seconds = self.exchanges[cell.variant](np.frombuffer(self.payload, np.uint8), inbox, trips)
            times_ns: list[int] = []
            got: Message = inbox.data
        else:
            times_ns, got = self._ask(cell.variant, arm.runs, trips)
            seconds = (times_ns[-1] - times_ns[0]) / 1e9
        asked, leftover = self.channel.receive()
        # A legacy answer is what was asked.
        expected = _checksum(self.payload) if _legacy(cell.variant) else answer
        sane = (asked, _checksum(got), leftover) == (_checksum(self.payload), expected, 0)
        if not sane:
            return Block(seconds, fault="lost or damaged messages")
        values = {"round trip": seconds / trips}
        if times_ns:
            each = np.percentile(np.diff(times_ns) / 1e9, list(PERCENTILES.values()))
            values |= dict(zip(PERCENTILES, map(float, each), strict=True))
        return Block(seconds, values)

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
    kinds = dict.fromkeys(curves(settings), zmq.REQ)
    with sockets.connected(peers, partial(answer, settings), kinds) as (channel, asking):
        yield Asker(channel, asking, settings)


def serve(peers: Peers, settings: dict[str, Any]) -> None:
    """Be the end that answers on a rank of its own."""
    sockets.serve(peers, partial(answer, settings))


def answer(settings: dict[str, Any], context: zmq.Context[Any], channel: Channel) -> None:
    """Answer until told to stop."""
    kinds = {name: (zmq.REP, keys["transport"]) for name, keys in curves(settings).items()}
    with sockets.bound(context, channel, kinds) as answering:
        exchange = partial(zeromq.pingpong, first=False)
        exchanges, _ = sockets.in_c(channel, exchange, answering, _with_ceiling(settings))
        payload = b""
        while command := channel.receive():
            name, arm, trips, size_bytes = command
            if len(payload) != size_bytes:
                payload = os.urandom(size_bytes)
            channel.send(_checksum(payload))
            if arm == CEILING:
                inbox = np.zeros(size_bytes, np.uint8)
                exchanges[name](np.frombuffer(payload, np.uint8), inbox, trips)
                got: Message = inbox.data
            else:
                got = _answer(answering[name], _legacy(name), arm, trips, payload)
            channel.send((_checksum(got), answering[name].poll(0)))


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
