"""Round trips of single messages between a REQ and a REP socket, copied or zero-copy.

A block is n repetitions of `trips_per_repetition` round trips. Each trip is timed, so that a block has percentiles.
Each end sends a buffer of its own, by the arm's way, and drops the messages that it receives.

On the `legacy` curves, each end sends the received message object back, as pyzmq's `perf.py` does. From the second trip
on, a zero-copy arm then returns the library's own message to it, and lends no buffer of Python.

The ceiling is the same exchange in C, over the same sockets. It times all trips together.

After a block, each end checks the last message that it received.
"""

import os
from collections.abc import Callable
from functools import lru_cache, partial
from time import perf_counter_ns
from typing import Any

import numpy as np

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.experiments.zmq_latency import Settings
from crossover.measure.messages import sockets
from crossover.measure.messages.handover import HANDOVERS, Message, checksum, distinct, without
from crossover.measure.messages.sockets import Curve, Socket, Sockets, curves
from crossover.measure.native import ceiling_zeromq
from crossover.measure.ranks import cores
from crossover.measure.ranks.channel import Channel
from crossover.measure.sampling.contract import DAMAGED, Block

PERCENTILES = {"round trip, median": 50, "round trip, 95th percentile": 95, "round trip, 99th percentile": 99}
CEILING = "C"


def cells(settings: Settings) -> list[Cell]:
    """One cell per curve, binding and message size."""
    # Only a new message object can be sent back: these two reuse a buffer.
    re_sent, every = without(settings, "recv-into", CEILING), without(settings)
    return [
        Cell(keys, size, distinct(settings, re_sent if curve.legacy else every, size))
        for curve, own in curves(settings).items()
        for keys in sockets.bound(settings, own)
        for size in settings.sizes_bytes
    ]


class Requester:
    """The end that sends requests. It keeps the time and commands the other end."""

    def __init__(self, channel: Channel, connected: Sockets, settings: Settings):
        self.channel, self.sockets = channel, connected
        self.trips_per_repetition = settings.trips_per_repetition
        self.payload = lru_cache(maxsize=1)(os.urandom)
        exchange = partial(ceiling_zeromq.pingpong, first=True)
        self.exchanges, self.no_ceiling = sockets.in_c(channel, exchange, connected, settings)

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Make `n` repetitions of `trips_per_repetition` round trips with messages of `cell.x` bytes."""
        if arm.ceiling and self.no_ceiling:
            return Block(0.0, fault=self.no_ceiling)
        if (theirs := cores.take(cell.keys)) is None:
            return Block(0.0, fault=cores.ONE_CORE)
        curve, trips, payload = Curve.of(cell.keys), n * self.trips_per_repetition, self.payload(cell.x)
        self.channel.send((curve, arm.runs, trips, cell.x, theirs))
        reply_checksum = self.channel.receive()
        if arm.ceiling:
            inbox = np.zeros(cell.x, np.uint8)
            seconds = self.exchanges[curve](np.frombuffer(payload, np.uint8), inbox, trips)
            times_ns: list[int] = []
            got: Message = inbox.data
        else:
            times_ns, got = _request(self.sockets[curve], curve.legacy, arm.runs, trips, payload)
            seconds = (times_ns[-1] - times_ns[0]) / 1e9
        request_checksum, leftover = self.channel.receive()
        # A legacy reply is the request.
        expected = checksum(payload) if curve.legacy else reply_checksum
        if (request_checksum, checksum(got), leftover) != (checksum(payload), expected, 0):
            return Block(seconds, fault=DAMAGED)
        values = {"round trip": seconds / trips}
        if times_ns:
            each = np.percentile(np.diff(times_ns) / 1e9, list(PERCENTILES.values()))
            values |= dict(zip(PERCENTILES, map(float, each), strict=True))
        return Block(seconds, values)


def reply(channel: Channel, bound: Sockets, settings: Settings) -> None:
    """Reply to requests until stopped."""
    exchange = partial(ceiling_zeromq.pingpong, first=False)
    exchanges, _ = sockets.in_c(channel, exchange, bound, settings)
    payload_of = lru_cache(maxsize=1)(os.urandom)
    while command := channel.receive():
        curve, arm, trips, size_bytes, cpus = command
        cores.pin(cpus)
        payload = payload_of(size_bytes)
        channel.send(checksum(payload))
        if arm == CEILING:
            inbox = np.zeros(size_bytes, np.uint8)
            exchanges[curve](np.frombuffer(payload, np.uint8), inbox, trips)
            got: Message = inbox.data
        else:
            got = _reply(bound[curve], curve.legacy, arm, trips, payload)
        channel.send((checksum(got), bound[curve].poll(0)))


def _request(socket: Socket, legacy: bool, arm: str, trips: int, payload: bytes) -> tuple[list[int], Message]:
    """Make round trips; returns the start of each and the end of the last, in ns, and the last reply."""
    handover = HANDOVERS[arm]
    receive, buffer = handover.receiving(socket, len(payload))
    send = handover.sending(socket, payload)
    times = [0] * (trips + 1)
    got: Message = payload
    if legacy:
        resend = partial(socket.send, flags=0, copy=handover.copy)
        for trip in range(trips):
            times[trip] = perf_counter_ns()
            resend(got)
            got = receive()
    else:
        for trip in range(trips):
            times[trip] = perf_counter_ns()
            send()
            got = receive()
    times[trips] = perf_counter_ns()
    return times, got if buffer is None else buffer


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


drive, serve = sockets.ends(Requester, reply)
