"""Throughput of bursts of messages on a connection that is idle between them, by the length of the burst.

Unlike the continuous stream of `zmq_throughput`, this is a program that sends a few messages now and then: all threads
are asleep when a burst begins, and the burst includes the time to wake them. A block is n bursts of x messages (see
`zeromq/burst.py`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import zmq

from crossover.measure.ranks.channel import Channel
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import Axis, Block, Cell, Metric
from crossover.measure.zeromq import burst, sockets
from crossover.measure.zeromq.flood import Curve, curves, receiving, sending
from crossover.measure.zeromq.sockets import Socket
from crossover.planning.plan import Arm, points

AXIS = Axis("burst", "messages")
METRICS = (
    Metric("throughput", "messages/s", "higher"),
    Metric("send rate", "messages/s", "higher"),
    Metric("overstatement", "times", "lower"),
)


def cells(settings: dict[str, Any]) -> list[Cell]:
    """One cell per connection, message size and length of a burst."""
    return [
        Cell(curve._asdict() | {"message_bytes": size}, messages)
        for curve in curves(settings)
        for size in settings["sizes_bytes"]
        for messages in points(settings["messages"])
        if size * messages <= settings["burst_bytes"]
    ]


def _way(settings: dict[str, Any]) -> burst.Way:
    return burst.Way(answered=False, two_clocks=settings["placement"] == "nodes")


class Sender:
    """The sending end, which commands the receiving one."""

    def __init__(self, channel: Channel, connected: dict[Curve, Socket], way: burst.Way):
        self.channel = channel
        self.sockets = connected
        self.way = way
        self.number = 0
        self.payload = b""

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Send `n` bursts of `cell.x` messages."""
        curve, size = Curve.of(cell.keys), cell.keys["message_bytes"]
        if len(self.payload) != size:
            self.payload = os.urandom(size)
        loop = sending(self.sockets[curve], curve, arm.runs, self.payload)
        bursts: list[burst.Burst] = []
        while len(bursts) < n and not (bursts and bursts[-1].fault):
            self.number += 1
            self.channel.send((curve, arm.runs, size, cell.x))
            bursts.append(
                burst.send(self.channel, self.sockets[curve], loop, self.payload, self.number, cell.x, self.way)
            )
        return burst.block(bursts, n * cell.x)


@contextmanager
def drive(peers: Peers, settings: dict[str, Any]) -> Iterator[Sender]:
    """Connect one socket per curve to the receiving end."""
    kinds = {curve: curve.kinds[0] for curve in curves(settings)}
    with sockets.connected(peers, partial(receive, settings), kinds) as (channel, connected):
        yield Sender(channel, connected, _way(settings))


def serve(peers: Peers, settings: dict[str, Any]) -> None:
    """Run the receiving end on its own rank."""
    sockets.serve(peers, partial(receive, settings))


def receive(settings: dict[str, Any], context: zmq.Context[Any], channel: Channel) -> None:
    """Receive bursts until stopped."""
    kinds = {curve: (curve.kinds[1], curve.transport) for curve in curves(settings)}
    with sockets.bound(context, channel, kinds) as bound:
        while command := channel.receive():
            curve, arm, size_bytes, count = command
            loop = receiving(bound[curve], curve, arm, size_bytes)
            burst.receive(channel, bound[curve], loop, count, _way(settings))
