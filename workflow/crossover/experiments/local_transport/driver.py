"""Bytes to a child process and back, or one way: by ZeroMQ, `multiprocessing`, shared memory, or streams of asyncio.

A block of round trips is n messages there and back, one at a time. A block of a stream is n messages there, and a word
from the child when it has taken the last. Both ends make their messages before the block, and compare the last that
they received after it. A message that is left over then is a fault, and one that is missing ends the launch.

The ways of `multiprocessing` need a child: a queue cannot be given to a process that exists. So the child of rank 0 is
the other end for all ways, and rank 0 is alone.
"""

from __future__ import annotations

import multiprocessing
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache, partial
from multiprocessing.synchronize import Semaphore
from time import perf_counter
from typing import Any

import numpy as np

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.experiments.local_transport import Settings, ways
from crossover.experiments.local_transport.ways import Streams
from crossover.measure.messages.handover import checksum
from crossover.measure.messages.loops import WORD, Way
from crossover.measure.native import ceiling_raw
from crossover.measure.native.ceiling import Exchange
from crossover.measure.native.loader import UnavailableError
from crossover.measure.ranks import allocator, cores
from crossover.measure.ranks.children import Children, begin
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import DAMAGED, Block

STREAM = "stream"
IN_C = "Unix socket in C"
LARGE_MESSAGES, BYTES_PER_SECOND = 3, 5e8
"""How many of the largest messages a block has at least, at a usual rate of round trips."""


def cells(settings: Settings) -> list[Cell]:
    """One cell per pattern, binding and message size; the ceilings are round trips, and streams are free."""
    curves = [({"pattern": pattern}, settings.arms) for pattern in settings.patterns if pattern == STREAM]
    curves += [
        ({"pattern": pattern, "binding": each}, (*settings.arms, *settings.ceilings))
        for pattern in settings.patterns
        for each in settings.bindings
        if pattern != STREAM
    ]
    # A block of one large message would vary as that does.
    return [
        Cell(
            keys, size, tuple(arms), block_seconds=max(settings.block_seconds, LARGE_MESSAGES * size / BYTES_PER_SECOND)
        )
        for keys, arms in curves
        for size in settings.sizes_bytes
    ]


class Parent:
    """Rank 0: commands the child, sends, and keeps the time."""

    def __init__(
        self, commands: Any, open_ways: dict[str, Way | Streams], ceilings: dict[str, Exchange], unavailable: str
    ):
        self.commands, self.ways = commands, open_ways
        self.ceilings, self.unavailable = ceilings, unavailable
        self.payload = lru_cache(maxsize=1)(os.urandom)

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Send `n` messages of `cell.x` bytes."""
        payload = self.payload(cell.x)
        allocator.settle(cell.x)
        if (theirs := cores.take(cell.keys)) is None:
            return Block(0.0, fault=cores.ONE_CORE)
        if arm.ceiling:
            return self._in_c(theirs, arm.runs, payload, n)
        is_stream, way = cell.keys["pattern"] == STREAM, self.ways[arm.runs]
        self.commands.send((arm.runs, is_stream, cell.x, n, theirs))
        reply = self.commands.recv()
        began = perf_counter()
        got = way.pour(payload, n) if is_stream else way.ping(payload, n)
        seconds = perf_counter() - began
        taken, left = self.commands.recv()
        expected = checksum(WORD) if is_stream else reply
        if (taken, checksum(got)) != (checksum(payload), expected) or left or way.is_readable():
            return Block(seconds, fault=DAMAGED)
        return Block(seconds, {"throughput": n / seconds} if is_stream else {"round trip": seconds / n})

    def _in_c(self, theirs: cores.Cpus, name: str, payload: bytes, n: int) -> Block:
        if name not in self.ceilings:
            return Block(0.0, fault=self.unavailable)
        outbox, inbox = np.frombuffer(payload, np.uint8), np.zeros(len(payload), np.uint8)
        expected, taken = checksum(payload), checksum(payload)
        if name == IN_C:
            self.commands.send((name, False, len(payload), n, theirs))
            expected = self.commands.recv()
        seconds = self.ceilings[name](outbox, inbox, n)
        if name == IN_C:
            taken, _ = self.commands.recv()
        if (checksum(inbox.data), taken) != (expected, checksum(payload)):
            return Block(seconds, fault=DAMAGED)
        return Block(seconds, {"round trip": seconds / n})


def child(commands: Any, ends: ways.Ends, connection: socket.socket, started: Semaphore) -> None:
    """Follow the parent's commands until it sends None."""
    begin(started)
    with ways.opened(ends, is_parent=False) as open_ways:
        payload_of = lru_cache(maxsize=1)(os.urandom)
        while command := commands.recv():
            arm, is_stream, size, n, cpus = command
            payload = payload_of(size)
            allocator.settle(size)
            cores.pin(cpus)
            commands.send(checksum(payload))
            if arm == IN_C:
                inbox = np.zeros(size, np.uint8)
                ceiling_raw.pingpong(connection, first=False)(np.frombuffer(payload, np.uint8), inbox, n)
                commands.send((checksum(inbox.data), False))
                continue
            way = open_ways[arm]
            got = way.drain(payload, n) if is_stream else way.pong(payload, n)
            commands.send((checksum(got), way.is_readable()))


@contextmanager
def drive(peers: Peers, settings: Settings) -> Iterator[Parent]:
    """Start the child, and end it."""
    spawn = multiprocessing.get_context("spawn")
    with ExitStack() as stack:
        ours, theirs = (stack.enter_context(end) for end in socket.socketpair())
        commands, their_commands = spawn.Pipe()
        children = Children(spawn, "the child of local_transport", 1)
        ends = ways.Ends.made(spawn, max(settings.sizes_bytes))
        process = spawn.Process(target=child, args=(their_commands, ends, theirs, children.started), daemon=True)
        process.start()
        children.all_made()
        with children.watched():
            # Without our copies of its ends, we see the child's end instead of waiting for it.
            their_commands.close()
            ends.addresses[1].close()
            children.await_start()
            for block in ends.blocks:
                block.unlink()
            open_ways = stack.enter_context(ways.opened(ends, is_parent=True))
            ceilings, unavailable = {}, ""
            try:
                every: dict[str, Callable[[], Exchange]] = {
                    "memcpy": ceiling_raw.memcpy,
                    IN_C: partial(ceiling_raw.pingpong, ours, first=True),
                }
                ceilings = {name: every[name]() for name in settings.ceilings}
            except UnavailableError as error:
                unavailable = str(error)
            yield Parent(commands, open_ways, ceilings, unavailable)
        commands.send(None)
        process.join()


def serve(peers: Peers, settings: Settings) -> None:
    """Never called: rank 0 is alone."""
