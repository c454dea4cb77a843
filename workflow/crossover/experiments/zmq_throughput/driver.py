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

import os
from dataclasses import replace
from functools import lru_cache

import numpy as np

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.experiments.zmq_throughput import Settings
from crossover.measure.messages import burst, flow, sockets
from crossover.measure.messages.handover import Message, Send, Take, distinct, receiving, sending, without
from crossover.measure.messages.sockets import Curve, Sockets, curves
from crossover.measure.native import ceiling_zeromq
from crossover.measure.ranks import provenance
from crossover.measure.ranks.channel import Channel
from crossover.measure.sampling.contract import Block

CEILINGS = {"C copy": True, "C no-copy": False}
"""Whether each ceiling copies messages into and out of the library."""


def cells(settings: Settings) -> list[Cell]:
    """One cell per curve and message size, with the arms that work on this curve."""
    found = []
    for curve, keys in curves(settings).items():
        # A message of several parts cannot be received into a single buffer.
        unsuited = ["recv-into"] if curve.multipart else []
        arms = without(settings, *unsuited, *([] if curve.has_ceiling else CEILINGS))
        if curve.multipart:
            seconds = settings.burst_seconds
            window = {"window_bytes": settings.burst_bytes, "burst_seconds": seconds}
        else:
            seconds = None
            window = {"window_messages": settings.in_flight_messages, "window_bytes": settings.in_flight_bytes}
        found += [
            Cell({**keys, **window}, size, distinct(settings, arms, size), seconds) for size in settings.sizes_bytes
        ]
    return found


class Sender:
    """The sending end, which commands the receiving one."""

    def __init__(self, channel: Channel, connected: Sockets, settings: Settings):
        self.channel, self.sockets, self.settings = channel, connected, settings
        self.window = _window(settings)
        self.bursts = burst.Sender(channel, connected, settings.placement)
        self.payload = lru_cache(maxsize=1)(os.urandom)
        self.their_peak = 0
        self.floods, self.no_ceilings = sockets.in_c(channel, ceiling_zeromq.push, connected, settings)

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Send `n` messages of `cell.x` bytes: in the middle of a flow, or in bursts."""
        if arm.ceiling and self.no_ceilings:
            return Block(0.0, fault=self.no_ceilings)
        curve, payload = Curve.of(cell.keys), self.payload(cell.x)
        our_peak, self.their_peak = provenance.watch_peak_memory(), 0
        block = (self._bursts if curve.multipart else self._flow)(curve, arm.runs, payload, n)
        if block.fault:
            return block
        peaks = [our_peak()] if self.settings.placement == "process" else [our_peak(), self.their_peak]
        values = {**block.values, "bandwidth": block.values["throughput"] * cell.x / 1e6}
        return replace(block, values=values | ({"peak memory": sum(peaks) / 1e6} if all(peaks) else {}))

    def _flow(self, curve: Curve, arm: str, payload: bytes, n: int) -> Block:
        socket = self.sockets[curve]
        if arm in CEILINGS:
            loop = _pushing(self.floods[curve], payload, CEILINGS[arm])
        else:
            loop = sending(socket, curve, arm, payload)
        self.channel.send((curve, arm, len(payload), n))
        block = flow.send(self.channel, socket, loop, payload, n, self.window)
        self._hear_peak()
        return block

    def _bursts(self, curve: Curve, arm: str, payload: bytes, n: int) -> Block:
        most = max(1, self.settings.burst_bytes // len(payload))
        counts = [min(most, n - sent) for sent in range(0, n, most)]
        return self.bursts.run(curve, arm, payload, counts, done=self._hear_peak)

    def _hear_peak(self) -> None:
        self.their_peak = max(self.their_peak, self.channel.receive())


def receive(channel: Channel, bound: Sockets, settings: Settings) -> None:
    """Receive flows and bursts until stopped."""
    drains, _ = sockets.in_c(channel, ceiling_zeromq.pull, bound, settings)
    while command := channel.receive():
        curve, arm, size_bytes, n = command
        peak = provenance.watch_peak_memory()
        if arm in CEILINGS:
            loop = _pulling(drains[curve], size_bytes, CEILINGS[arm])
        else:
            loop = receiving(bound[curve], curve, arm, size_bytes)
        if curve.multipart:
            burst.receive(channel, bound[curve], loop, n, curve, settings.placement)
        else:
            flow.receive(channel, bound[curve], loop, size_bytes, n, _window(settings))
        channel.send(peak())


def _window(settings: Settings) -> flow.Window:
    return flow.Window(settings.in_flight_messages, settings.in_flight_bytes, settings.lead_in_seconds)


def _pushing(push: ceiling_zeromq.Push, payload: bytes, copies: bool) -> Send:
    """The sending loop of a ceiling."""
    memory = np.frombuffer(payload, np.uint8)

    def loop(count: int) -> None:
        push(memory, count, copies)

    return loop


def _pulling(pull: ceiling_zeromq.Pull, size_bytes: int, copies: bool) -> Take:
    """The receiving loop of a ceiling."""
    inbox = np.zeros(size_bytes, np.uint8)

    def loop(count: int) -> Message:
        pull(inbox, count, copies)
        return inbox.data

    return loop


drive, serve = sockets.ends(Sender, receive)
