"""Messages over ZeroMQ by blocking calls, after a poller, and by coroutines on two event loops, at both ends.

A block of REQ/REP is n round trips, one of PUSH/PULL a stream of n messages, confirmed over the channel. Each end sends
a buffer of its own, copied, and compares the last message that it received after the block; then nothing may be left.
"""

import asyncio
import os
from collections.abc import Callable
from functools import lru_cache
from time import perf_counter

import uvloop
import zmq
import zmq.asyncio

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.experiments.async_cost import Settings
from crossover.measure.messages import sockets
from crossover.measure.messages.handover import checksum
from crossover.measure.messages.sockets import Curve, Socket, Sockets, curves
from crossover.measure.ranks import cores
from crossover.measure.ranks.channel import Channel
from crossover.measure.sampling.contract import DAMAGED, Block

STREAM = "PUSH/PULL"
LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}
"""What makes the event loop of each arm with coroutines."""


def cells(settings: Settings) -> list[Cell]:
    """One cell per curve, binding and message size; streams are free."""
    bound = [keys for own in curves(settings).values() for keys in sockets.bound(settings, own)]
    return [Cell(keys, size) for keys in bound for size in settings.sizes_bytes]


class Ways:
    """The calls of each arm on the sockets of one end. Each event loop has sockets of its own, over the same ones."""

    def __init__(self, opened: Sockets):
        self.sockets = opened
        self.loops = {arm: make() for arm, make in LOOPS.items()}
        self.awaited = {(arm, at): zmq.asyncio.Socket(shadow=opened[at].underlying) for arm in LOOPS for at in opened}

    def run(self, arm: str, curve: Curve, first: bool, payload: bytes, n: int) -> bytes:
        """This end's part of `n` messages or round trips; the end that is `first` sends first. Returns the last
        message that was received, or nothing."""
        sends, receives = first or curve.pattern != STREAM, not first or curve.pattern != STREAM
        if arm in LOOPS:
            socket = self.awaited[arm, curve]
            return self.loops[arm].run_until_complete(_awaited(socket, first, sends, receives, payload, n))
        calls = _polled if arm == "poller" else _blocking
        return calls(self.sockets[curve], first, sends, receives, payload, n)


def _blocking(socket: Socket, first: bool, sends: bool, receives: bool, payload: bytes, n: int) -> bytes:
    got = b""
    for _ in range(n):
        if sends and first:
            socket.send(payload)
        if receives:
            got = socket.recv()
        if sends and not first:
            socket.send(payload)
    return got


def _polled(socket: Socket, first: bool, sends: bool, receives: bool, payload: bytes, n: int) -> bytes:
    got = b""
    readable, writable = zmq.Poller(), zmq.Poller()
    readable.register(socket, zmq.POLLIN)
    writable.register(socket, zmq.POLLOUT)
    for _ in range(n):
        if sends and first:
            writable.poll()
            socket.send(payload, zmq.NOBLOCK)
        if receives:
            readable.poll()
            got = socket.recv(zmq.NOBLOCK)
        if sends and not first:
            writable.poll()
            socket.send(payload, zmq.NOBLOCK)
    return got


async def _awaited(
    socket: zmq.asyncio.Socket, first: bool, sends: bool, receives: bool, payload: bytes, n: int
) -> bytes:
    got = b""
    for _ in range(n):
        if sends and first:
            await socket.send(payload)
        if receives:
            got = await socket.recv()
        if sends and not first:
            await socket.send(payload)
    return got


class Sender:
    """The end that sends first. It keeps the time and commands the other end."""

    def __init__(self, channel: Channel, connected: Sockets, settings: Settings):
        self.channel, self.sockets, self.ways = channel, connected, Ways(connected)
        self.payload = lru_cache(maxsize=1)(os.urandom)

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Send `n` messages of `cell.x` bytes, and wait for as many replies, or until the other end has the last."""
        curve, payload = Curve.of(cell.keys), self.payload(cell.x)
        if (theirs := cores.take(cell.keys)) is None:
            return Block(0.0, fault=cores.ONE_CORE)
        self.channel.send((curve, arm.runs, n, cell.x, theirs))
        reply = self.channel.receive()
        began = perf_counter()
        got = self.ways.run(arm.runs, curve, True, payload, n)
        if curve.pattern == STREAM:
            self.channel.receive()
        seconds = perf_counter() - began
        self.channel.send("done")
        taken, left = self.channel.receive()
        expected = checksum(b"") if curve.pattern == STREAM else reply
        if (taken, checksum(got)) != (checksum(payload), expected) or left or _is_readable(curve, self.sockets[curve]):
            return Block(seconds, fault=DAMAGED)
        return Block(seconds, {"throughput": n / seconds} if curve.pattern == STREAM else {"round trip": seconds / n})


def _is_readable(curve: Curve, socket: Socket) -> bool:
    """Whether a message is left; PUSH has none."""
    return socket.socket_type != zmq.PUSH and bool(socket.poll(0))


def reply(channel: Channel, bound: Sockets, settings: Settings) -> None:
    """Take messages and answer them, until stopped."""
    ways, payload_of = Ways(bound), lru_cache(maxsize=1)(os.urandom)
    while command := channel.receive():
        curve, arm, n, size_bytes, cpus = command
        cores.pin(cpus)
        payload = payload_of(size_bytes)
        channel.send(checksum(payload))
        got = ways.run(arm, curve, False, payload, n)
        if curve.pattern == STREAM:
            channel.send("taken")
        channel.receive()
        channel.send((checksum(got), _is_readable(curve, bound[curve])))


drive, serve = sockets.ends(Sender, reply)
