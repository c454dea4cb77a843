"""A flood of messages from one end to the other: what arrives per second, and how fast the send calls return.

One block is one or more *bursts*. The receiver says it is ready; the sender sends n messages and then, untimed,
a sentinel with the burst's number and count. The receiver takes n messages and one more, and acknowledges on a
channel that is idle meanwhile: the last message's checksum, the one more, and whether the queue is empty. A
burst whose acknowledgement is not as it must be has no number, and nothing leaks into the next.

- throughput = messages / (last receive - first send): `perf_counter_ns` is one clock for all of a host's processes.
  Two hosts have two clocks. There the receiver says so at once when it has the last message, and the time ends when
  the sender hears it: messages / (last heard of - first send). Either is a little late, by one message's latency.
- send rate  = messages / time of the send loop: with no high-water mark no send can block. What bounds the
  queue is the burst, `in_flight_bytes` at most.
- overstatement = the rate between the first receive and the last, both by the receiver's clock, divided by the
  throughput: the window that pyzmq's notebook names leaves out what comes before the first arrival.
- peak memory = the largest resident sets of both ends, added; in one process that process's. Of a block's bursts the
  largest counts. It includes what each end has anyway, the interpreter and the libraries (those that two processes
  share count twice), and what the allocator has kept of blocks before. What the arm adds is the burst in flight,
  `in_flight_bytes` at most; a short block's burst is smaller, and a faster arm's larger. Where the kernel does not let
  a process set its mark back, the metric is left out.

Two patterns. `PUSH/PULL` is as above. `DEALER/ROUTER` is the protocol of pyzmq's own `perf.py`, whose numbers are the
published ones: the receiver takes multipart messages, an identity frame before each, and answers the last; its
throughput ends when that answer is back.

The ceilings are the same floods written in C, over the same sockets.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from time import perf_counter_ns
from typing import Any

import numpy as np
import zmq

from crossover.measure import peak_memory, sockets
from crossover.measure.blocks import Axis, Block, Cell, Metric
from crossover.measure.ceilings import zeromq
from crossover.measure.channel import Channel
from crossover.measure.flood import Curve, receive_all, send_all
from crossover.measure.handover import HANDOVERS, Message, without
from crossover.measure.peers import Peers
from crossover.measure.sockets import Socket
from crossover.plan import TRANSPORTS, Arm, points

AXIS = Axis("message size", "bytes")
METRICS = (
    Metric("throughput", "messages/s", "higher"),
    Metric("bandwidth", "MB/s", "higher"),
    Metric("send rate", "messages/s", "higher"),
    Metric("overstatement", "times", "lower"),
    Metric("peak memory", "MB", "lower"),
)

CEILINGS = {"C copy": True, "C no-copy": False}
"""Whether each ceiling copies into and out of the library."""

LIBRARIES = {"C copy": "zmq_push_pull", "C no-copy": "zmq_push_pull"}
"""The library that each ceiling is in; read by the workflow, which builds them."""


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


def _with_ceilings(settings: dict[str, Any]) -> list[str]:
    """The curves that C has too."""
    bounded = [name for name, curve in curves(settings).items() if not set(CEILINGS) & set(_meaningless(curve))]
    return bounded if settings["ceilings"] else []


def _two_clocks(settings: dict[str, Any]) -> bool:
    """Whether sender and receiver are on hosts of their own."""
    return bool(settings["placement"] == "nodes")


def _meaningless(curve: Curve) -> list[str]:
    """The alternatives that a curve cannot have."""
    # A message of several parts has no single buffer to be received into.
    buffers = ["recv-into"] if curve.multipart else []
    return buffers + (list(CEILINGS) if curve.multipart or curve.polled else [])


@dataclass(frozen=True)
class Burst:
    """When things happened to a burst, in ns of the sender's clock, what it took; `fault` says why it does not count.

    `window` is from the first message's arrival to the last one's, in ns; 0 in C, which does not tell. So is
    `peak_bytes` where it is not known.
    """

    began: int
    sent: int
    last: int
    window: int
    peak_bytes: int
    fault: str


class Sender:
    """The sending end, which commands the receiving one."""

    def __init__(self, channel: Channel, sending: dict[str, Socket], settings: dict[str, Any]):
        self.channel = channel
        self.sockets = sending
        self.curves = curves(settings)
        self.in_flight_bytes = settings["in_flight_bytes"]
        self.one_process = settings["placement"] == "process"
        self.two_clocks = _two_clocks(settings)
        self.number = 0
        self.payload = b""
        self.floods, self.no_ceilings = sockets.in_c(channel, zeromq.push, sending, _with_ceilings(settings))

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
        # Of one message alone the published window is empty.
        if min(counts) > 1 and all(burst.window for burst in bursts):
            values["overstatement"] = moving / sum(burst.window / 1e9 for burst in bursts)
        if all(burst.peak_bytes for burst in bursts):
            values["peak memory"] = max(burst.peak_bytes for burst in bursts) / 1e6
        return Block(moving, values)

    def _burst(self, name: str, arm: str, count: int) -> Burst:
        self.number += 1
        curve, socket = self.curves[name], self.sockets[name]
        sentinel = b"end of burst %d, %d messages" % (self.number, count)
        our_peak = peak_memory.watch()
        self.channel.send((name, arm, count, len(self.payload)))
        self.channel.receive()
        if arm in CEILINGS:
            began, sent = self.floods[name](np.frombuffer(self.payload, np.uint8), count, CEILINGS[arm])
        else:
            began, sent = send_all(socket, curve, HANDOVERS[arm], count, self.payload)
        if curve.multipart:
            socket.recv_multipart()
            heard = perf_counter_ns()
        elif self.two_clocks:
            self.channel.receive()
            heard = perf_counter_ns()
        else:
            heard = 0
        socket.send(sentinel)
        first, last, their_peak, checksum, ending, leftover = self.channel.receive()
        peaks = [our_peak()] if self.one_process else [our_peak(), their_peak]
        sane = (checksum, ending, leftover) == (zlib.crc32(self.payload), sentinel, 0)
        fault = "" if sane else "lost or damaged messages"
        peak_bytes = sum(peaks) if all(peaks) else 0
        return Burst(began, sent, heard or last, last - first if first else 0, peak_bytes, fault)


@contextmanager
def drive(peers: Peers, settings: dict[str, Any]) -> Iterator[Sender]:
    """Connect one socket per curve to the receiving end."""
    kinds = {name: curve.kinds[0] for name, curve in curves(settings).items()}
    with sockets.connected(peers, partial(receive, settings), kinds) as (channel, sending):
        yield Sender(channel, sending, settings)


def serve(peers: Peers, settings: dict[str, Any]) -> None:
    """Be the receiving end on a rank of its own."""
    sockets.serve(peers, partial(receive, settings))


def receive(settings: dict[str, Any], context: zmq.Context[Any], channel: Channel) -> None:
    """Receive bursts until told to stop; the timed loop does nothing but receive."""
    known = curves(settings)
    kinds = {name: (curve.kinds[1], curve.transport) for name, curve in known.items()}
    with sockets.bound(context, channel, kinds) as receiving:
        drains, _ = sockets.in_c(channel, zeromq.pull, receiving, _with_ceilings(settings))
        while command := channel.receive():
            name, arm, count, size_bytes = command
            peak = peak_memory.watch()
            channel.send("ready")
            curve = known[name]
            first, last, got = _take(receiving[name], curve, drains.get(name), arm, count, size_bytes)
            if _two_clocks(settings) and not curve.multipart:
                channel.send("all there")
            checksum = zlib.crc32(got.buffer if isinstance(got, zmq.Frame) else got)
            # Lest it count as the next burst's memory.
            del got
            # The last part of whatever comes: before it may be an identity.
            ending = receiving[name].recv_multipart()[-1]
            channel.send((first, last, peak(), checksum, ending, receiving[name].poll(0)))


def _take(
    socket: Socket, curve: Curve, drain: zeromq.Pull | None, arm: str, count: int, size_bytes: int
) -> tuple[int, int, Message]:
    """When the first and the last of `count` messages were there, in ns; and the last."""
    if drain and arm in CEILINGS:
        inbox = np.zeros(size_bytes, np.uint8)
        return 0, drain(inbox, count, CEILINGS[arm]), inbox.data
    return receive_all(socket, curve, HANDOVERS[arm], count, size_bytes)
