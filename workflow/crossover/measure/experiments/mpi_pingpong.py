"""A float64 array to another rank and back, pickled (`send`/`recv`) or as a buffer (`Send`/`Recv`).

Each arm is the pair of calls that the mpi4py tutorial times: both ranks send an array they already have, rank 1
answers each message it got. Here the received array goes to its own buffer, emptied before the block, so that
what came back can be checked on both ranks after it.

Between blocks rank 1 waits for a command in a non-blocking broadcast that it polls asleep; inside a block
both ranks wait in MPI, spinning, because that is the thing measured.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crossover.measure.peers import Peers
from crossover.measure.sampler import Axis, Block, Cell, Metric
from crossover.plan import Arm, points

AXIS = Axis("array length", "elements")
METRICS = (Metric("round trip", "s", "lower"),)

Array = NDArray[np.float64]
ARMS = ("send", "Send")
STOP = -1


def cells(settings: dict[str, Any]) -> list[Cell]:
    """One cell per array length."""
    return [Cell("float64 array, blocking calls", elements) for elements in points(settings["elements"])]


class Player:
    """One rank of the game, with the arrays of the present length."""

    def __init__(self, peers: Peers):
        self.comm = peers.comm
        self.commands = peers.comm.Dup()
        self.rank = peers.rank
        self.other = 1 - peers.rank
        self.outbox: Array = np.empty(0)
        self.inbox: Array = np.empty(0)

    def command(self, *words: int) -> tuple[int, int, int]:
        """Broadcast (arm, elements, n) from rank 0; the others sleep until it comes."""
        buffer = np.array(words if words else (0, 0, 0), dtype=np.int64)
        request = self.commands.Ibcast(buffer, root=0)
        while not request.Test():
            time.sleep(0 if self.rank == 0 else 50e-6)
        arm, elements, n = map(int, buffer)
        return arm, elements, n

    def play(self, arm: int, elements: int, n: int) -> tuple[float, bool]:
        """`n` round trips; their seconds, and whether all arrived undamaged."""
        if len(self.outbox) != elements:
            self.outbox = np.random.default_rng(elements).random(elements)
            self.inbox = np.empty(elements)
        self.inbox.fill(np.nan)
        game = self._pickled if ARMS[arm] == "send" else self._buffered
        self.comm.Barrier()  # rank 1 has woken up
        began = perf_counter()
        got = game(n)
        seconds = perf_counter() - began
        undamaged = np.array([np.array_equal(got, self.outbox)], dtype=np.uint8)
        theirs = np.zeros(1, dtype=np.uint8)
        self.comm.Sendrecv(undamaged, self.other, recvbuf=theirs, source=self.other)
        return seconds, bool(undamaged[0] and theirs[0])

    def _pickled(self, n: int) -> Array:
        send, recv, other, outbox = self.comm.send, self.comm.recv, self.other, self.outbox
        got = self.inbox
        if self.rank == 0:
            for _ in range(n):
                send(outbox, dest=other)
                got = recv(source=other)
        else:
            for _ in range(n):
                got = recv(source=other)
                send(outbox, dest=other)
        return got

    def _buffered(self, n: int) -> Array:
        send, recv, other = self.comm.Send, self.comm.Recv, self.other
        outbox, inbox = self.outbox, self.inbox
        if self.rank == 0:
            for _ in range(n):
                send(outbox, dest=other)
                recv(inbox, source=other)
        else:
            for _ in range(n):
                recv(inbox, source=other)
                send(outbox, dest=other)
        return inbox

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """On rank 0: order a block, play it."""
        words = (ARMS.index(arm.runs), cell.x, n)
        self.command(*words)
        seconds, undamaged = self.play(*words)
        if not undamaged:
            return Block(seconds, fault="lost or damaged messages")
        return Block(seconds, {"round trip": seconds / n})


@contextmanager
def drive(peers: Peers, settings: dict[str, Any]) -> Iterator[Player]:
    """Play on rank 0."""
    player = Player(peers)
    yield player
    player.command(STOP, 0, 0)


def serve(peers: Peers, settings: dict[str, Any]) -> None:
    """Play on rank 1 until told to stop."""
    player = Player(peers)
    while (words := player.command())[0] != STOP:
        player.play(*words)
