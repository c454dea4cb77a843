"""Bytes to another rank and back: as one message, or as two halves.

A block is n round trips of x bytes. After it, what came back is compared with what was sent.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.experiments.NAME import Settings
from crossover.measure.ranks.channel import Channel
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import Block


def cells(settings: Settings) -> list[Cell]:
    """One cell per message size."""
    return [Cell({"object": "bytes"}, size) for size in settings.sizes_bytes]


class Sender:
    """Rank 0: sends, and keeps the time."""

    def __init__(self, channel: Channel):
        self.channel = channel

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Make `n` round trips of `cell.x` bytes."""
        payload = os.urandom(cell.x)
        half = cell.x // 2
        messages = [payload] if arm.runs == "whole" else [payload[:half], payload[half:]]
        began = perf_counter()
        for _ in range(n):
            for message in messages:
                self.channel.send(message)
            received = [self.channel.receive() for _ in messages]
        seconds = perf_counter() - began
        if received != messages:
            return Block(seconds, fault="lost or damaged messages")
        return Block(seconds, {"round trip": seconds / n})


@contextmanager
def drive(peers: Peers, settings: Settings) -> Iterator[Sender]:
    """Connect to rank 1, and stop it at the end."""
    channel = peers.channel(to=1)
    yield Sender(channel)
    channel.send(None)


def serve(peers: Peers, settings: Settings) -> None:
    """Send every message of rank 0 back, until stopped."""
    channel = peers.channel(to=0)
    while (message := channel.receive()) is not None:
        channel.send(message)
