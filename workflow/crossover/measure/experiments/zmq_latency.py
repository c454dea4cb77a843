"""Round trips of single messages between a REQ and a REP socket, copied or zero-copy.

A block is n repetitions of `trips_per_repetition` round trips. Each trip is timed, so that a block has percentiles.
Each end sends a buffer of its own, by the arm's way, and drops the messages that it receives.

On the `legacy` curves, each end sends the received message object back, as pyzmq's `perf.py` does. From the second trip
on, a zero-copy arm then returns the library's own message to it, and lends no buffer of Python.

The ceiling is the same exchange in C, over the same sockets. It times all trips together.

After a block, each end checks the last message that it received.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from time import perf_counter_ns
from typing import Any, NamedTuple

import numpy as np
import zmq

from crossover.measure.ceilings import zeromq
from crossover.measure.ranks.channel import Channel
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import Axis, Block, Cell, Metric
from crossover.measure.zeromq import sockets
from crossover.measure.zeromq.handover import HANDOVERS, Message, without
from crossover.measure.zeromq.sockets import Socket
from crossover.planning.curves import in_placement
from crossover.planning.plan import Arm, points
from crossover.records.protocol import Keys

AXIS = Axis("message size", "bytes")
PERCENTILES = {"round trip, median": 50, "round trip, 95th percentile": 95, "round trip, 99th percentile": 99}
CEILING = "C"
LIBRARIES = {"C": "zmq_pingpong"}
"""The library of the ceiling. The workflow reads this and builds it."""

METRICS = (Metric("round trip", "s", "lower"), *(Metric(name, "s", "lower") for name in PERCENTILES))


class Curve(NamedTuple):
    """The keys of a curve's sockets."""

    pattern: str
    transport: str
    legacy: bool

    @classmethod
    def of(cls, keys: Keys) -> Curve:
        """The curve with these keys."""
        return cls(keys["pattern"], keys["transport"], keys["legacy"])


def curves(settings: dict[str, Any]) -> list[Curve]:
    """The configured curves that work in this placement."""
    return [Curve.of(keys) for keys in in_placement(settings["curves"], settings["placement"]).values()]


def _with_ceiling(settings: dict[str, Any]) -> list[Curve]:
    return [curve for curve in curves(settings) if settings["ceilings"] and not curve.legacy]


def cells(settings: dict[str, Any]) -> list[Cell]:
    """One cell per curve and message size."""
    # Only a new message object can be sent back: these two reuse a buffer.
    re_sent = without(settings, "recv-into", CEILING)
    return [
        Cell(curve._asdict(), size, re_sent if curve.legacy else ())
        for curve in curves(settings)
        for size in points(settings["sizes_bytes"])
    ]


class Requester:
    """The end that sends requests. It keeps the time and commands the other end."""

    def __init__(self, channel: Channel, connected: dict[Curve, Socket], settings: dict[str, Any]):
        self.channel = channel
        self.sockets = connected
        self.trips_per_repetition = settings["trips_per_repetition"]
        self.payload = b""
        exchange = partial(zeromq.pingpong, first=True)
        self.exchanges, self.no_ceiling = sockets.in_c(channel, exchange, connected, _with_ceiling(settings))

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Make `n` repetitions of `trips_per_repetition` round trips with messages of `cell.x` bytes."""
        if arm.ceiling and self.no_ceiling:
            return Block(0.0, fault=self.no_ceiling)
        if len(self.payload) != cell.x:
            self.payload = os.urandom(cell.x)
        curve, trips = Curve.of(cell.keys), n * self.trips_per_repetition
        self.channel.send((curve, arm.runs, trips, cell.x))
        reply_checksum = self.channel.receive()
        if arm.ceiling:
            inbox = np.zeros(cell.x, np.uint8)
            seconds = self.exchanges[curve](np.frombuffer(self.payload, np.uint8), inbox, trips)
            times_ns: list[int] = []
            got: Message = inbox.data
        else:
            times_ns, got = self._request(curve, arm.runs, trips)
            seconds = (times_ns[-1] - times_ns[0]) / 1e9
        request_checksum, leftover = self.channel.receive()
        # A legacy reply is the request.
        expected = _checksum(self.payload) if curve.legacy else reply_checksum
        if (request_checksum, _checksum(got), leftover) != (_checksum(self.payload), expected, 0):
            return Block(seconds, fault="lost or damaged messages")
        values = {"round trip": seconds / trips}
        if times_ns:
            each = np.percentile(np.diff(times_ns) / 1e9, list(PERCENTILES.values()))
            values |= dict(zip(PERCENTILES, map(float, each), strict=True))
        return Block(seconds, values)

    def _request(self, curve: Curve, arm: str, trips: int) -> tuple[list[int], Message]:
        """The start of each trip and the end of the last, in ns; and the last reply."""
        socket, handover = self.sockets[curve], HANDOVERS[arm]
        receive, buffer = handover.receiving(socket, len(self.payload))
        send = handover.sending(socket, self.payload)
        times = [0] * (trips + 1)
        if curve.legacy:
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
def drive(peers: Peers, settings: dict[str, Any]) -> Iterator[Requester]:
    """Connect one REQ socket per curve to the other end."""
    kinds = dict.fromkeys(curves(settings), zmq.REQ)
    with sockets.connected(peers, partial(reply, settings), kinds) as (channel, connected):
        yield Requester(channel, connected, settings)


def serve(peers: Peers, settings: dict[str, Any]) -> None:
    """Run the replying end on its own rank."""
    sockets.serve(peers, partial(reply, settings))


def reply(settings: dict[str, Any], context: zmq.Context[Any], channel: Channel) -> None:
    """Reply to requests until stopped."""
    kinds = {curve: (zmq.REP, curve.transport) for curve in curves(settings)}
    with sockets.bound(context, channel, kinds) as bound:
        exchange = partial(zeromq.pingpong, first=False)
        exchanges, _ = sockets.in_c(channel, exchange, bound, _with_ceiling(settings))
        payload = b""
        while command := channel.receive():
            curve, arm, trips, size_bytes = command
            if len(payload) != size_bytes:
                payload = os.urandom(size_bytes)
            channel.send(_checksum(payload))
            if arm == CEILING:
                inbox = np.zeros(size_bytes, np.uint8)
                exchanges[curve](np.frombuffer(payload, np.uint8), inbox, trips)
                got: Message = inbox.data
            else:
                got = _reply(bound[curve], curve.legacy, arm, trips, payload)
            channel.send((_checksum(got), bound[curve].poll(0)))


def _reply(socket: Socket, legacy: bool, arm: str, trips: int, payload: bytes) -> Message:
    """Reply to `trips` requests; returns the last request."""
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
