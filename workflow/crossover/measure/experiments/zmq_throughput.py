"""A flood of messages from one end to the other: what arrives per second, and how fast the send calls return.

One block is one or more *bursts*. The receiver says it is ready; the sender sends n messages and then, untimed,
a sentinel with the burst's number and count. The receiver takes n messages and one more, and acknowledges on a
channel that is idle meanwhile: the last message's checksum, the one more, and whether the queue is empty. A
burst whose acknowledgement is not as it must be has no number, and nothing leaks into the next.

- throughput = messages / (last receive - first send): `perf_counter_ns` is one clock for all of a host's processes.
- send rate  = messages / time of the send loop: with no high-water mark no send can block. What bounds the
  queue is the burst, `in_flight_bytes` at most.
- overstatement = the rate between the first receive and the last, divided by the throughput: the window that pyzmq's
  notebook names leaves out what comes before the first arrival.

Two patterns. `PUSH/PULL` is as above. `DEALER/ROUTER` is the protocol of pyzmq's own `perf.py`, whose numbers are the
published ones: the receiver takes multipart messages, an identity frame before each, and answers the last; its
throughput ends when that answer is back.

The ceilings are the same floods written in C, over the same sockets.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from time import perf_counter_ns
from typing import Any, TypeVar

import numpy as np
import zmq

from crossover.measure.blocks import Axis, Block, Cell, Metric
from crossover.measure.ceilings import zeromq
from crossover.measure.channel import Channel
from crossover.measure.handover import HANDOVERS, TRANSPORTS, Handover, Message, Socket, address, unbounded, without
from crossover.measure.native import UnavailableError
from crossover.measure.peers import Peers
from crossover.plan import Arm, points

AXIS = Axis("message size", "bytes")
METRICS = (
    Metric("throughput", "messages/s", "higher"),
    Metric("bandwidth", "MB/s", "higher"),
    Metric("send rate", "messages/s", "higher"),
    Metric("overstatement", "times", "lower"),
)

CEILINGS = {"C copy": True, "C no-copy": False}
"""Whether each ceiling copies into and out of the library."""

LIBRARIES = {"C copy": "zmq_push_pull", "C no-copy": "zmq_push_pull"}
"""The library that each ceiling is in; read by the workflow, which builds them."""


@dataclass(frozen=True)
class Curve:
    """What a curve's name says: the sockets, the transport, and whether a poller is asked before each call."""

    pattern: str
    transport: str
    polled: bool

    @classmethod
    def named(cls, name: str) -> Curve:
        """Take a name apart, such as `DEALER/ROUTER over ipc, polled`."""
        pattern, rest = name.split(" over ")
        transport, _, way = rest.partition(", ")
        return cls(pattern, transport, way == "polled")

    @property
    def multipart(self) -> bool:
        """Whether messages arrive with an identity before them, and the last one is answered."""
        return self.pattern == "DEALER/ROUTER"

    @property
    def kinds(self) -> tuple[int, int]:
        """The sender's and the receiver's kind of socket."""
        return (zmq.DEALER, zmq.ROUTER) if self.multipart else (zmq.PUSH, zmq.PULL)

    @property
    def flags(self) -> int:
        """What a call is told after the poller has said that it will not have to wait."""
        return zmq.NOBLOCK if self.polled else 0


def curves(settings: dict[str, Any]) -> dict[str, Curve]:
    """The curves that have a meaning in this placement, by their names."""
    named = {name: Curve.named(name) for name in settings["curves"]}
    return {name: curve for name, curve in named.items() if curve.transport in TRANSPORTS[settings["placement"]]}


def cells(settings: dict[str, Any]) -> list[Cell]:
    """One cell per curve and message size."""
    limit = settings["in_flight_bytes"] // 1_000_000
    return [
        Cell(f"{name}, {limit} MB in flight", size, name, without(settings, *_meaningless(curve)))
        for name, curve in curves(settings).items()
        for size in points(settings["sizes_bytes"])
    ]


def _meaningless(curve: Curve) -> list[str]:
    """The alternatives that a curve cannot have."""
    # A message of several parts has no single buffer to be received into.
    buffers = ["recv-into"] if curve.multipart else []
    return buffers + (list(CEILINGS) if curve.multipart or curve.polled else [])


@dataclass(frozen=True)
class Burst:
    """When things happened to a burst, in ns of one clock; `fault` says why none of it counts.

    C does not tell when the first message was there: then that is 0.
    """

    began: int
    sent: int
    first: int
    last: int
    fault: str


class Sender:
    """The sending end, which commands the receiving one."""

    def __init__(self, channel: Channel, sockets: dict[str, Socket], settings: dict[str, Any]):
        self.channel = channel
        self.sockets = sockets
        self.curves = curves(settings)
        self.in_flight_bytes = settings["in_flight_bytes"]
        self.number = 0
        self.payload = b""
        self.floods, reason = _in_c(zeromq.push, sockets, settings)
        their_reason = channel.receive()
        self.no_ceilings = reason or their_reason

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Move `n` messages of `cell.x` bytes, in as many bursts as the bytes in flight ask for."""
        if arm.ceiling and self.no_ceilings:
            return Block(0.0, fault=self.no_ceilings)
        if len(self.payload) != cell.x:
            self.payload = os.urandom(cell.x)
        most = max(1, self.in_flight_bytes // cell.x)
        counts = [most] * (n // most) + [n % most] * (n % most > 0)
        bursts = []
        for count in counts:
            bursts.append(self._burst(cell.variant, arm.runs, count))
            if bursts[-1].fault:
                break
        moving = sum(burst.last - burst.began for burst in bursts) / 1e9
        if bursts[-1].fault:
            return Block(moving, fault=bursts[-1].fault)
        sending = sum(burst.sent - burst.began for burst in bursts) / 1e9
        values = {"throughput": n / moving, "bandwidth": n * cell.x / moving / 1e6, "send rate": n / sending}
        window = sum(burst.last - burst.first for burst in bursts) / 1e9
        # Of one message alone the published window is empty.
        known = min(counts) > 1 and all(burst.first for burst in bursts)
        return Block(moving, values | ({"overstatement": moving / window} if known else {}))

    def _burst(self, name: str, arm: str, count: int) -> Burst:
        self.number += 1
        curve, socket = self.curves[name], self.sockets[name]
        sentinel = b"end of burst %d, %d messages" % (self.number, count)
        self.channel.send((name, arm, count, len(self.payload)))
        self.channel.receive()
        if arm in CEILINGS:
            began, sent = self.floods[name](np.frombuffer(self.payload, np.uint8), count, CEILINGS[arm])
        else:
            began, sent = _give(socket, curve, HANDOVERS[arm], count, self.payload)
        if curve.multipart:
            socket.recv_multipart()
            last = perf_counter_ns()
        socket.send(sentinel)
        first, received, checksum, ending, leftover = self.channel.receive()
        sane = (checksum, ending, leftover) == (zlib.crc32(self.payload), sentinel, 0)
        fault = "" if sane else "lost or damaged messages"
        return Burst(began, sent, first, last if curve.multipart else received, fault)


@contextmanager
def drive(peers: Peers, settings: dict[str, Any]) -> Iterator[Sender]:
    """Connect one socket per curve to the receiving end."""
    context: zmq.Context[Any] = zmq.Context()
    channel = peers.other_end(context, partial(receive, settings))
    sockets = {}
    for name, curve in curves(settings).items():
        sockets[name] = unbounded(context, curve.kinds[0])
        sockets[name].connect(channel.receive())
    yield Sender(channel, sockets, settings)
    channel.send(None)
    channel.receive()
    context.destroy(linger=0)


def serve(peers: Peers, settings: dict[str, Any]) -> None:
    """Be the receiving end on a rank of its own."""
    context: zmq.Context[Any] = zmq.Context()
    receive(settings, context, peers.channel(to=0))
    context.destroy(linger=0)


def receive(settings: dict[str, Any], context: zmq.Context[Any], channel: Channel) -> None:
    """Receive bursts until told to stop; the timed loop does nothing but receive."""
    known = curves(settings)
    sockets = {}
    for name, curve in known.items():
        sockets[name] = unbounded(context, curve.kinds[1])
        sockets[name].bind(address(curve.transport))
        channel.send(sockets[name].getsockopt_string(zmq.LAST_ENDPOINT))
    drains, reason = _in_c(zeromq.pull, sockets, settings)
    channel.send(reason)
    while command := channel.receive():
        name, arm, count, size_bytes = command
        channel.send("ready")
        if arm in CEILINGS:
            inbox = np.zeros(size_bytes, np.uint8)
            first, last = 0, drains[name](inbox, count, CEILINGS[arm])
            got: Message = inbox.data
        else:
            first, last, got = _take(sockets[name], known[name], HANDOVERS[arm], count, size_bytes)
        # The last part of whatever comes: before it may be an identity.
        ending = sockets[name].recv_multipart()[-1]
        checksum = zlib.crc32(got.buffer if isinstance(got, zmq.Frame) else got)
        channel.send((first, last, checksum, ending, sockets[name].poll(0)))
    for socket in sockets.values():
        socket.close()
    channel.send("closed")


Half = TypeVar("Half")


def _in_c(
    make: Callable[[Socket], Half], sockets: dict[str, Socket], settings: dict[str, Any]
) -> tuple[dict[str, Half], str]:
    """This end of a flood in C for each curve that has one; or why there is none."""
    try:
        plain = [name for name, curve in curves(settings).items() if not set(CEILINGS) & set(_meaningless(curve))]
        return {name: make(sockets[name]) for name in plain if settings["ceilings"]}, ""
    except UnavailableError as error:
        return {}, str(error)


def _give(socket: Socket, curve: Curve, handover: Handover, count: int, payload: Message) -> tuple[int, int]:
    """When sending `count` messages began and ended, in ns."""
    send = handover.sending(socket, payload, curve.flags)
    began = perf_counter_ns()
    if curve.polled:
        poll = _poll(socket, zmq.POLLOUT)
        for _ in range(count):
            poll()
            send()
    else:
        for _ in range(count):
            send()
    return began, perf_counter_ns()


def _take(socket: Socket, curve: Curve, handover: Handover, count: int, size_bytes: int) -> tuple[int, int, Message]:
    """When the first and the last of `count` messages were there, in ns; and the last one."""
    take, buffer = handover.receiving(socket, size_bytes, curve.flags)
    if curve.multipart:
        take = partial(socket.recv_multipart, curve.flags, handover.copy)
    if curve.polled:
        poll = _poll(socket, zmq.POLLIN)
        poll()
        got = take()
        first = perf_counter_ns()
        for _ in range(count - 1):
            poll()
            got = take()
    else:
        got = take()
        first = perf_counter_ns()
        for _ in range(count - 1):
            got = take()
    last = perf_counter_ns()
    if curve.multipart:
        identity, got = got
        socket.send_multipart([identity, b"DONE"])
    return first, last, got if buffer is None else buffer


def _poll(socket: Socket, event: int) -> Callable[[], Any]:
    """What waits until `event` has come for the socket."""
    poller = zmq.Poller()
    poller.register(socket, event)
    return poller.poll
