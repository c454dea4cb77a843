"""An object to another rank and back over ZeroMQ, within one frame or with frames of its own for its buffers.

A block is n round trips between a REQ and a REP socket. Each end packs and sends an object of its own, and makes a new
one of every message that it receives; both are timed. Each end writes a number that rises into its object before it
sends it, so that no two messages of a launch are equal.

The ceiling exchanges as many bytes in C over the same sockets.

After a block, each end compares the last object that it received with the one that the other sent last: values, types,
shapes and names. When both are done, each checks that no message is left.
"""

from functools import lru_cache, partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from crossover.design.arm import Arm, arms_of
from crossover.design.cell import Cell
from crossover.experiments.array_transfer import Settings
from crossover.experiments.array_transfer.payload import Payload, equal, payload, sizes
from crossover.experiments.array_transfer.ways import CEILING, OBJECTS, way
from crossover.measure.messages import sockets
from crossover.measure.messages.sockets import Curve, Socket, Sockets
from crossover.measure.native import ceiling_zeromq
from crossover.measure.native.ceiling import Exchange
from crossover.measure.ranks.channel import Channel
from crossover.measure.sampling.contract import DAMAGED, Block


def cells(settings: Settings) -> list[Cell]:
    """One cell per curve and size of its object, with the arms that can send such an object; none without a rival."""
    found = []
    for keys in settings.connections(settings.placement).values():
        kind = keys["object"]
        fit = [arm for arm in arms_of(settings) if not arm.null and kind in OBJECTS.get(arm.runs, (kind,))]
        if not all(arm.ceiling for arm in fit):
            names = tuple(arm.runs for arm in fit)
            found += [Cell(keys, x, names) for x in sizes(kind, settings.sizes_bytes, settings.container_sizes_bytes)]
    return found


class Command(NamedTuple):
    """What the other end must know of a block."""

    curve: Curve
    arm: str
    object: str
    size_bytes: int
    trips: int
    number: int
    """The number in the first object of either end; each further one has the next."""


class End:
    """One end: 0 sends first, 1 replies."""

    def __init__(self, end: int):
        self.end = end
        self.payloads = lru_cache(maxsize=1)(lambda *of: (payload(end, *of), payload(1 - end, *of)))

    def prepare(self, block: Command) -> tuple[Payload, Payload]:
        """What this end sends, and what the other does."""
        return self.payloads(block.object, block.size_bytes)

    def play(self, block: Command, socket: Socket, exchange: Exchange | None) -> tuple[float, bool]:
        """This end's part of a block, in C if `exchange` is given: its seconds, and whether the last object came."""
        ours, theirs = self.prepare(block)
        last = block.number + block.trips - 1
        theirs.numbers[-1] = last
        if exchange:
            got = np.zeros_like(ours.numbers)
            ours.numbers[-1] = last
            seconds = exchange(ours.numbers.view(np.uint8), got.view(np.uint8), block.trips)
            return seconds, equal(got, theirs.numbers)
        loop = _reply if self.end else _request
        seconds, got = loop(block, socket, ours)
        return seconds, equal(got, theirs.object)


class Requester:
    """The end that sends first. It keeps the time and commands the other end."""

    def __init__(self, channel: Channel, connected: Sockets, settings: Settings):
        self.channel, self.sockets, self.end, self.number = channel, connected, End(0), 0
        exchange = partial(ceiling_zeromq.pingpong, first=True)
        self.exchanges, self.no_ceiling = sockets.in_c(channel, exchange, connected, settings)

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Make `n` round trips with objects of `cell.x` bytes."""
        if arm.ceiling and self.no_ceiling:
            return Block(0.0, fault=self.no_ceiling)
        block = Command(Curve.of(cell.keys), arm.runs, cell.keys["object"], cell.x, n, self.number)
        self.number += n
        self.channel.send(block)
        self.end.prepare(block)
        self.channel.receive()
        exchange = self.exchanges[block.curve] if arm.ceiling else None
        socket = self.sockets[block.curve]
        seconds, arrived = self.end.play(block, socket, exchange)
        self.channel.send("over")
        if not (self.channel.receive() and arrived) or left(socket):
            return Block(seconds, fault=DAMAGED)
        return Block(seconds, {"round trip": seconds / n})


def reply(channel: Channel, bound: Sockets, settings: Settings) -> None:
    """Reply to requests until stopped."""
    exchanges, _ = sockets.in_c(channel, partial(ceiling_zeromq.pingpong, first=False), bound, settings)
    end = End(1)
    while block := channel.receive():
        end.prepare(block)
        channel.send("ready")
        exchange = exchanges[block.curve] if block.arm == CEILING else None
        _, arrived = end.play(block, bound[block.curve], exchange)
        channel.receive()
        channel.send(arrived and not left(bound[block.curve]))


def left(socket: Socket) -> bool:
    """Whether a message, or a frame of one, is still to be received."""
    return bool(socket.rcvmore or socket.poll(0))


def _request(block: Command, socket: Socket, ours: Payload) -> tuple[float, Any]:
    """Make round trips; returns their seconds and the last reply."""
    own = way(block.arm, block.object)
    send, receive, sent, numbers = own.sending(socket), own.receiving(socket), ours.object, ours.numbers
    began = perf_counter()
    for number in range(block.number, block.number + block.trips):
        numbers[-1] = number
        send(sent)
        got = receive()
    return perf_counter() - began, got


def _reply(block: Command, socket: Socket, ours: Payload) -> tuple[float, Any]:
    """Reply to requests; returns the seconds and the last request."""
    own = way(block.arm, block.object)
    send, receive, sent, numbers = own.sending(socket), own.receiving(socket), ours.object, ours.numbers
    began = perf_counter()
    for number in range(block.number, block.number + block.trips):
        got = receive()
        numbers[-1] = number
        send(sent)
    return perf_counter() - began, got


drive, serve = sockets.ends(Requester, reply)
