"""A flood of messages from one end to the other: what arrives per second, and how fast the send calls return.

Two patterns, each with a protocol of its own.

- `PUSH/PULL` is a stream that lasts: it flows before it is timed, and goes on until it has been (see `measure.flow`).
- `DEALER/ROUTER` is the protocol of pyzmq's own `perf.py`, whose numbers are the published ones: a burst on an idle
  connection, timed from the first send to the answer to its last message (see `measure.burst`). It lasts
  `burst_seconds`, in several bursts where it would hold more than `burst_bytes`.

- peak memory = the largest resident sets of both ends, added; in one process that process's. It includes what each end
  has anyway, the interpreter and the libraries (those that two processes share count twice), and what the allocator
  has kept of blocks before. What the arm adds is what it has in flight. Where the kernel does not let a process set
  its mark back, the metric is left out.

The ceilings are the same floods written in C, over the same sockets.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import zmq

from crossover.measure.ceilings import zeromq
from crossover.measure.machine import peak_memory
from crossover.measure.ranks.channel import Channel
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import Axis, Block, Cell, Metric
from crossover.measure.zeromq import burst, flow, sockets
from crossover.measure.zeromq.flood import Curve, Send, Take, curves, receiving, sending
from crossover.measure.zeromq.handover import Message, without
from crossover.measure.zeromq.sockets import Socket
from crossover.planning.curves import NAMED
from crossover.planning.plan import Arm, points

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


def cells(settings: dict[str, Any]) -> list[Cell]:
    """One cell per curve and message size."""
    return [
        Cell(
            NAMED[name] | _bounded(curve, settings),
            size,
            name,
            without(settings, *_meaningless(curve)),
            settings["burst_seconds"] if curve.multipart else None,
        )
        for name, curve in curves(settings).items()
        for size in points(settings["sizes_bytes"])
    ]


def _bounded(curve: Curve, settings: dict[str, Any]) -> dict[str, Any]:
    """The keys of what may be in flight."""
    if curve.multipart:
        return {"window_bytes": settings["burst_bytes"], "burst_seconds": settings["burst_seconds"]}
    return {"window_messages": settings["in_flight_messages"], "window_bytes": settings["in_flight_bytes"]}


def _with_ceilings(settings: dict[str, Any]) -> list[str]:
    """The curves that C has too."""
    bounded = [name for name, curve in curves(settings).items() if not set(CEILINGS) & set(_meaningless(curve))]
    return bounded if settings["ceilings"] else []


def _way(curve: Curve, settings: dict[str, Any]) -> burst.Way:
    return burst.Way(answered=curve.multipart, two_clocks=settings["placement"] == "nodes")


def _bounds(settings: dict[str, Any]) -> flow.Bounds:
    return flow.Bounds(settings["in_flight_messages"], settings["in_flight_bytes"], settings["lead_in_seconds"])


def _meaningless(curve: Curve) -> list[str]:
    """The alternatives that a curve cannot have."""
    # A message of several parts has no single buffer to be received into.
    buffers = ["recv-into"] if curve.multipart else []
    return buffers + (list(CEILINGS) if curve.multipart or curve.polled else [])


class Sender:
    """The sending end, which commands the receiving one."""

    def __init__(self, channel: Channel, connected: dict[str, Socket], settings: dict[str, Any]):
        self.channel = channel
        self.sockets = connected
        self.settings = settings
        self.curves = curves(settings)
        self.one_process = settings["placement"] == "process"
        self.number = 0
        self.their_peak = 0
        self.payload = b""
        self.floods, self.no_ceilings = sockets.in_c(channel, zeromq.push, connected, _with_ceilings(settings))

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Move `n` messages of `cell.x` bytes: in the middle of a flow, or in bursts."""
        if arm.ceiling and self.no_ceilings:
            return Block(0.0, fault=self.no_ceilings)
        if len(self.payload) != cell.x:
            self.payload = os.urandom(cell.x)
        move = self._bursts if self.curves[cell.variant].multipart else self._flow
        our_peak, self.their_peak = peak_memory.watch(), 0
        block = move(cell.variant, arm.runs, n)
        if block.fault:
            return block
        peaks = [our_peak()] if self.one_process else [our_peak(), self.their_peak]
        values = dict(block.values) | {"bandwidth": block.values["throughput"] * cell.x / 1e6}
        return Block(block.seconds, values | ({"peak memory": sum(peaks) / 1e6} if all(peaks) else {}))

    def _flow(self, name: str, arm: str, n: int) -> Block:
        if arm in CEILINGS:
            loop = _pushing(self.floods[name], self.payload, CEILINGS[arm])
        else:
            loop = sending(self.sockets[name], self.curves[name], arm, self.payload)
        self.channel.send((name, arm, len(self.payload), n))
        seen = flow.send(self.channel, self.sockets[name], loop, self.payload, self.settings["lead_in_seconds"])
        self.their_peak = self.channel.receive()
        values = {"throughput": n / seen.timed_seconds, "send rate": seen.send_rate}
        return Block(seen.timed_seconds, {} if seen.fault else values, seen.fault)

    def _bursts(self, name: str, arm: str, n: int) -> Block:
        curve, socket = self.curves[name], self.sockets[name]
        loop = sending(socket, curve, arm, self.payload)
        most = max(1, self.settings["burst_bytes"] // len(self.payload))
        counts = [most] * (n // most) + [n % most] * (n % most > 0)
        bursts: list[burst.Burst] = []
        for count in counts:
            self.number += 1
            self.channel.send((name, arm, len(self.payload), count))
            way = _way(curve, self.settings)
            bursts.append(burst.send(self.channel, socket, loop, self.payload, self.number, count, way))
            self.their_peak = max(self.their_peak, self.channel.receive())
            if bursts[-1].fault:
                break
        return burst.block(bursts, n)


@contextmanager
def drive(peers: Peers, settings: dict[str, Any]) -> Iterator[Sender]:
    """Connect one socket per curve to the receiving end."""
    kinds = {name: curve.kinds[0] for name, curve in curves(settings).items()}
    with sockets.connected(peers, partial(receive, settings), kinds) as (channel, connected):
        yield Sender(channel, connected, settings)


def serve(peers: Peers, settings: dict[str, Any]) -> None:
    """Be the receiving end on a rank of its own."""
    sockets.serve(peers, partial(receive, settings))


def receive(settings: dict[str, Any], context: zmq.Context[Any], channel: Channel) -> None:
    """Receive flows and bursts until told to stop."""
    known = curves(settings)
    kinds = {name: (curve.kinds[1], curve.transport) for name, curve in known.items()}
    with sockets.bound(context, channel, kinds) as bound:
        drains, _ = sockets.in_c(channel, zeromq.pull, bound, _with_ceilings(settings))
        while command := channel.receive():
            name, arm, size_bytes, n = command
            peak = peak_memory.watch()
            if arm in CEILINGS:
                loop = _pulling(drains[name], size_bytes, CEILINGS[arm])
            else:
                loop = receiving(bound[name], known[name], arm, size_bytes)
            if known[name].multipart:
                burst.receive(channel, bound[name], loop, n, _way(known[name], settings))
            else:
                flow.receive(channel, bound[name], loop, size_bytes, n, _bounds(settings))
            channel.send(peak())


def _pushing(push: zeromq.Push, payload: bytes, copies: bool) -> Send:
    """The sending loop of a ceiling."""
    memory = np.frombuffer(payload, np.uint8)

    def loop(count: int) -> None:
        push(memory, count, copies)

    return loop


def _pulling(pull: zeromq.Pull, size_bytes: int, copies: bool) -> Take:
    """The receiving loop of a ceiling."""
    inbox = np.zeros(size_bytes, np.uint8)

    def loop(count: int) -> Message:
        pull(inbox, count, copies)
        return inbox.data

    return loop
