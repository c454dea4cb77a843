"""Throughput of bursts of messages on a connection that is idle between them, by the length of the burst.

Unlike the continuous stream of `zmq_throughput`, this is a program that sends a few messages now and then: all threads
are asleep when a burst begins, and the burst includes the time to wake them. A block is n bursts of x messages (see
`zeromq/burst.py`).
"""

import os
from functools import lru_cache

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.experiments.zmq_bursts import Settings
from crossover.measure.messages import burst, sockets
from crossover.measure.messages.handover import receiving
from crossover.measure.messages.sockets import Curve, Sockets, curves
from crossover.measure.ranks.channel import Channel
from crossover.measure.sampling.contract import Block


def cells(settings: Settings) -> list[Cell]:
    """One cell per connection, message size and length of a burst."""
    return [
        Cell({**keys, "message_bytes": size}, messages)
        for keys in curves(settings).values()
        for size in settings.sizes_bytes
        for messages in settings.messages
        if size * messages <= settings.burst_bytes
    ]


class Sender:
    """The sending end, which commands the receiving one."""

    def __init__(self, channel: Channel, connected: Sockets, settings: Settings):
        self.bursts = burst.Sender(channel, connected, settings.placement)
        self.payload = lru_cache(maxsize=1)(os.urandom)

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Send `n` bursts of `cell.x` messages."""
        payload = self.payload(cell.keys["message_bytes"])
        return self.bursts.run(Curve.of(cell.keys), arm.runs, payload, [cell.x] * n)


def receive(channel: Channel, bound: Sockets, settings: Settings) -> None:
    """Receive bursts until stopped."""
    while command := channel.receive():
        curve, arm, size_bytes, count = command
        loop = receiving(bound[curve], curve, arm, size_bytes)
        burst.receive(channel, bound[curve], loop, count, curve, settings.placement)


drive, serve = sockets.ends(Sender, receive)
