"""Bursts of messages on a connection that is idle in between: what is a burst's length worth?

A stream that lasts is `zmq_throughput`'s question. A program that sends a few messages now and then has every thread
asleep when it begins, and pays for waking them. A block is n bursts of so many messages (see `measure.burst`).
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
from crossover.measure.zeromq.flood import curves, receiving, sending
from crossover.measure.zeromq.sockets import Socket
from crossover.planning.curves import NAMED
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
        Cell(NAMED[name] | {"message_bytes": size}, messages, f"{size} {name}")
        for name in curves(settings)
        for size in settings["sizes_bytes"]
        for messages in points(settings["messages"])
        if size * messages <= settings["burst_bytes"]
    ]


def _way(settings: dict[str, Any]) -> burst.Way:
    return burst.Way(answered=False, two_clocks=settings["placement"] == "nodes")


class Sender:
    """The sending end, which commands the receiving one."""

    def __init__(self, channel: Channel, connected: dict[str, Socket], settings: dict[str, Any]):
        self.channel = channel
        self.sockets = connected
        self.curves = curves(settings)
        self.way = _way(settings)
        self.number = 0
        self.payload = b""

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Send `n` bursts of `cell.x` messages."""
        size, _, name = cell.variant.partition(" ")
        if len(self.payload) != int(size):
            self.payload = os.urandom(int(size))
        loop = sending(self.sockets[name], self.curves[name], arm.runs, self.payload)
        bursts: list[burst.Burst] = []
        while len(bursts) < n and not (bursts and bursts[-1].fault):
            self.number += 1
            self.channel.send((name, arm.runs, len(self.payload), cell.x))
            bursts.append(
                burst.send(self.channel, self.sockets[name], loop, self.payload, self.number, cell.x, self.way)
            )
        return burst.block(bursts, n * cell.x)


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
    """Receive bursts until told to stop."""
    known = curves(settings)
    kinds = {name: (curve.kinds[1], curve.transport) for name, curve in known.items()}
    with sockets.bound(context, channel, kinds) as bound:
        while command := channel.receive():
            name, arm, size_bytes, count = command
            loop = receiving(bound[name], known[name], arm, size_bytes)
            burst.receive(channel, bound[name], loop, count, _way(settings))
