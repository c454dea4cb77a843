"""Throughput of a flood of messages between two sockets, and the rate at which the send calls return.

Each pattern is timed in its own way:

- `PUSH/PULL` is a continuous stream, timed in its middle (see `zeromq/flow.py`).
- `DEALER/ROUTER` follows pyzmq's own `perf.py`, the source of the published numbers: a burst on an idle connection,
  timed from the first send to the answer to the last message (see `zeromq/burst.py`). A block lasts `burst_seconds`. If
  one burst would hold more than `burst_bytes`, it has several.

`peak memory` is the sum of the largest resident sets of both ends, or that of the one process. It includes the
interpreter, the libraries (twice, if two processes share them) and memory that the allocator kept from earlier blocks.
An arm adds its messages in flight. The metric is left out if the kernel does not let a process reset its peak.

The ceilings are the same floods in C, over the same sockets.
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
"""Whether each ceiling copies messages into and out of the library."""

LIBRARIES = {"C copy": "zmq_push_pull", "C no-copy": "zmq_push_pull"}
"""The library of each ceiling. The workflow reads this and builds them."""


def cells(settings: dict[str, Any]) -> list[Cell]:
    """One cell per curve and message size."""
    return [
        Cell(
            curve._asdict() | _window(curve, settings),
            size,
            without(settings, *_unsuited(curve)),
            settings["burst_seconds"] if curve.multipart else None,
        )
        for curve in curves(settings)
        for size in points(settings["sizes_bytes"])
    ]


def _window(curve: Curve, settings: dict[str, Any]) -> dict[str, Any]:
    """The keys that bound the messages in flight."""
    if curve.multipart:
        return {"window_bytes": settings["burst_bytes"], "burst_seconds": settings["burst_seconds"]}
    return {"window_messages": settings["in_flight_messages"], "window_bytes": settings["in_flight_bytes"]}


def _in_c(curve: Curve) -> bool:
    return not (curve.multipart or curve.polled)


def _unsuited(curve: Curve) -> list[str]:
    """The alternatives that do not work on this curve."""
    # A message of several parts cannot be received into a single buffer.
    buffers = ["recv-into"] if curve.multipart else []
    return buffers if _in_c(curve) else [*buffers, *CEILINGS]


def _with_ceilings(settings: dict[str, Any]) -> list[Curve]:
    return [curve for curve in curves(settings) if settings["ceilings"] and _in_c(curve)]


def _way(curve: Curve, settings: dict[str, Any]) -> burst.Way:
    return burst.Way(answered=curve.multipart, two_clocks=settings["placement"] == "nodes")


class Sender:
    """The sending end, which commands the receiving one."""

    def __init__(self, channel: Channel, connected: dict[Curve, Socket], settings: dict[str, Any]):
        self.channel = channel
        self.sockets = connected
        self.settings = settings
        self.number = 0
        self.their_peak = 0
        self.payload = b""
        self.floods, self.no_ceilings = sockets.in_c(channel, zeromq.push, connected, _with_ceilings(settings))

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Send `n` messages of `cell.x` bytes: in the middle of a flow, or in bursts."""
        if arm.ceiling and self.no_ceilings:
            return Block(0.0, fault=self.no_ceilings)
        if len(self.payload) != cell.x:
            self.payload = os.urandom(cell.x)
        curve = Curve.of(cell.keys)
        our_peak, self.their_peak = peak_memory.watch(), 0
        block = (self._bursts if curve.multipart else self._flow)(curve, arm.runs, n)
        if block.fault:
            return block
        peaks = [our_peak()] if self.settings["placement"] == "process" else [our_peak(), self.their_peak]
        values = dict(block.values) | {"bandwidth": block.values["throughput"] * cell.x / 1e6}
        return Block(block.seconds, values | ({"peak memory": sum(peaks) / 1e6} if all(peaks) else {}))

    def _flow(self, curve: Curve, arm: str, n: int) -> Block:
        if arm in CEILINGS:
            loop = _pushing(self.floods[curve], self.payload, CEILINGS[arm])
        else:
            loop = sending(self.sockets[curve], curve, arm, self.payload)
        self.channel.send((curve, arm, len(self.payload), n))
        seen = flow.send(self.channel, self.sockets[curve], loop, self.payload, self.settings["lead_in_seconds"])
        self.their_peak = self.channel.receive()
        values = {"throughput": n / seen.timed_seconds, "send rate": seen.send_rate}
        return Block(seen.timed_seconds, {} if seen.fault else values, seen.fault)

    def _bursts(self, curve: Curve, arm: str, n: int) -> Block:
        socket, way = self.sockets[curve], _way(curve, self.settings)
        loop = sending(socket, curve, arm, self.payload)
        most = max(1, self.settings["burst_bytes"] // len(self.payload))
        bursts: list[burst.Burst] = []
        for sent in range(0, n, most):
            count = min(most, n - sent)
            self.number += 1
            self.channel.send((curve, arm, len(self.payload), count))
            bursts.append(burst.send(self.channel, socket, loop, self.payload, self.number, count, way))
            self.their_peak = max(self.their_peak, self.channel.receive())
            if bursts[-1].fault:
                break
        return burst.block(bursts, n)


@contextmanager
def drive(peers: Peers, settings: dict[str, Any]) -> Iterator[Sender]:
    """Connect one socket per curve to the receiving end."""
    kinds = {curve: curve.kinds[0] for curve in curves(settings)}
    with sockets.connected(peers, partial(receive, settings), kinds) as (channel, connected):
        yield Sender(channel, connected, settings)


def serve(peers: Peers, settings: dict[str, Any]) -> None:
    """Run the receiving end on its own rank."""
    sockets.serve(peers, partial(receive, settings))


def receive(settings: dict[str, Any], context: zmq.Context[Any], channel: Channel) -> None:
    """Receive flows and bursts until stopped."""
    kinds = {curve: (curve.kinds[1], curve.transport) for curve in curves(settings)}
    bounds = flow.Bounds(settings["in_flight_messages"], settings["in_flight_bytes"], settings["lead_in_seconds"])
    with sockets.bound(context, channel, kinds) as bound:
        drains, _ = sockets.in_c(channel, zeromq.pull, bound, _with_ceilings(settings))
        while command := channel.receive():
            curve, arm, size_bytes, n = command
            peak = peak_memory.watch()
            if arm in CEILINGS:
                loop = _pulling(drains[curve], size_bytes, CEILINGS[arm])
            else:
                loop = receiving(bound[curve], curve, arm, size_bytes)
            if curve.multipart:
                burst.receive(channel, bound[curve], loop, n, _way(curve, settings))
            else:
                flow.receive(channel, bound[curve], loop, size_bytes, n, bounds)
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
