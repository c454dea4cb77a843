"""An array to another rank and back over ZeroMQ, within one frame or as a frame of its own.

A block is n round trips between a REQ and a REP socket. Each end packs and sends an array of its own, and makes a new
array of every message that it receives; both are timed. Each end writes a number that rises into its array before it
sends it, so that no two messages of a launch are equal.

The ceiling exchanges as many bytes in C over the same sockets.

After a block, each end compares the last array that it received with the array that the other sent last: values, type
and shape. When both are done, each checks that no message is left.
"""

from functools import lru_cache, partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.experiments.array_transfer import Settings
from crossover.experiments.array_transfer.ways import WAYS, Array
from crossover.measure.messages import sockets
from crossover.measure.messages.sockets import Curve, Socket, Sockets, curves
from crossover.measure.native import ceiling_zeromq
from crossover.measure.native.ceiling import Exchange
from crossover.measure.ranks.channel import Channel
from crossover.measure.sampling.contract import DAMAGED, Block

CEILING = "C"
ELEMENT_BYTES = 8


def cells(settings: Settings) -> list[Cell]:
    """One cell per curve and size of the array."""
    sizes = dict.fromkeys(-(-size // ELEMENT_BYTES) * ELEMENT_BYTES for size in settings.sizes_bytes)
    return [Cell(keys, size) for keys in curves(settings).values() for size in sizes]


class Command(NamedTuple):
    """What the other end must know of a block."""

    curve: Curve
    arm: str
    size_bytes: int
    trips: int
    number: int
    """The number in the first array of either end; each further one has the next."""


class End:
    """One end: 0 sends first, 1 replies."""

    def __init__(self, end: int):
        self.end, self.arrays = end, lru_cache(maxsize=1)(partial(arrays, end))

    def play(self, block: Command, socket: Socket, exchange: Exchange | None) -> tuple[float, bool]:
        """This end's part of a block, in C if `exchange` is given: its seconds, and whether the last array came."""
        ours, theirs = self.arrays(block.size_bytes)
        last = block.number + block.trips - 1
        if exchange:
            got = np.zeros_like(ours)
            ours[-1] = last
            seconds = exchange(ours.view(np.uint8), got.view(np.uint8), block.trips)
        else:
            loop = _reply if self.end else _request
            seconds, got = loop(block, socket, ours)
        theirs[-1] = last
        return seconds, equal(got, theirs)


class Requester:
    """The end that sends first. It keeps the time and commands the other end."""

    def __init__(self, channel: Channel, connected: Sockets, settings: Settings):
        self.channel, self.sockets, self.end, self.number = channel, connected, End(0), 0
        exchange = partial(ceiling_zeromq.pingpong, first=True)
        self.exchanges, self.no_ceiling = sockets.in_c(channel, exchange, connected, settings)

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Make `n` round trips with arrays of `cell.x` bytes."""
        if arm.ceiling and self.no_ceiling:
            return Block(0.0, fault=self.no_ceiling)
        block = Command(Curve.of(cell.keys), arm.runs, cell.x, n, self.number)
        self.number += n
        self.channel.send(block)
        self.end.arrays(cell.x)
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
        end.arrays(block.size_bytes)
        channel.send("ready")
        exchange = exchanges[block.curve] if block.arm == CEILING else None
        _, arrived = end.play(block, bound[block.curve], exchange)
        channel.receive()
        channel.send(arrived and not left(bound[block.curve]))


def arrays(end: int, size_bytes: int) -> tuple[Array, Array]:
    """The array that this end sends, and that of the other."""
    ours, theirs = (np.random.default_rng(each).random(size_bytes // ELEMENT_BYTES) for each in (end, 1 - end))
    return ours, theirs


def equal(got: Any, sent: Array) -> bool:
    """Whether a received array has the values, type and shape of the one that was sent."""
    return isinstance(got, np.ndarray) and got.dtype == sent.dtype and np.array_equal(got, sent)


def left(socket: Socket) -> bool:
    """Whether a message, or a frame of one, is still to be received."""
    return bool(socket.rcvmore or socket.poll(0))


def _request(block: Command, socket: Socket, ours: Array) -> tuple[float, Array]:
    """Make round trips; returns their seconds and the last reply."""
    way = WAYS[block.arm]
    send, receive = way.sending(socket), way.receiving(socket)
    began = perf_counter()
    for number in range(block.number, block.number + block.trips):
        ours[-1] = number
        send(ours)
        got = receive()
    return perf_counter() - began, got


def _reply(block: Command, socket: Socket, ours: Array) -> tuple[float, Array]:
    """Reply to requests; returns the seconds and the last request."""
    way = WAYS[block.arm]
    send, receive = way.sending(socket), way.receiving(socket)
    began = perf_counter()
    for number in range(block.number, block.number + block.trips):
        got = receive()
        ours[-1] = number
        send(ours)
    return perf_counter() - began, got


drive, serve = sockets.ends(Requester, reply)
