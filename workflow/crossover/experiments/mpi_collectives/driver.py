"""Collective calls of MPI on float64 arrays: pickled in lower case, as buffers with a capital; the ceiling is in C.

A block is n calls in a row, which all ranks begin together. Each rank writes the number of the call into its array,
so that no two calls move the same. In `bcast` the ranks take turns as the root: from one root, the others could fall
behind without anybody waiting for them.

After a block, each rank compares the last result with the one that it must have.

Between blocks, ranks wait for commands over ZeroMQ, which sleeps. Inside a block they wait in MPI and spin, because
that is part of the measurement.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.experiments.mpi_collectives import Settings
from crossover.measure.native import ceiling_mpi
from crossover.measure.native.loader import UnavailableError
from crossover.measure.ranks.network import launcher
from crossover.measure.ranks.peers import SUCH_AS, Peers
from crossover.measure.sampling.contract import DAMAGED, Block
from crossover.records.holes import HoleKind, Refusal

Array = NDArray[np.float64]
IN_C = "C"
Call = Callable[[int], Any]
"""Makes the call with this number, and returns the result of this rank."""


def cells(settings: Settings) -> list[Cell]:
    """One cell per operation and length; a launch has one number of ranks."""
    return [
        Cell({"pattern": pattern, "ranks": settings.ranks, "memory": settings.memory}, length)
        for pattern in settings.patterns
        for length in settings.elements
    ]


class Member:
    """One rank, with its array for the current block, and the ceilings that can be measured."""

    def __init__(self, comm: MPI.Intracomm, ceilings: Sequence[str] = ()):
        self.comm, self.unavailable = comm, ""
        if IN_C in ceilings:
            try:
                self.in_c = {pattern: ceiling_mpi.collective(comm, pattern) for pattern in ceiling_mpi.COLLECTIVES}
            except UnavailableError as error:
                self.unavailable = str(error)
            # A ceiling needs all ranks.
            self.unavailable = next(filter(None, comm.allgather(self.unavailable)), "")

    def play(self, pattern: str, arm: str, length: int, n: int) -> tuple[float, bool]:
        """Make `n` calls; returns their seconds, and whether every rank has the right last result."""
        ours, size = array(self.comm.rank, length), self.comm.size
        out = np.zeros(ours.shape if pattern != "allgather" else (size, *ours.shape))
        call = None if arm == IN_C else self._call(pattern, arm, ours, out)
        self.comm.Barrier()
        if call is None:
            seconds = self.in_c[pattern](ours.view(np.uint8), out.reshape(-1).view(np.uint8), n)
            got = ours if pattern == "bcast" and self.comm.rank == (n - 1) % size else out
        else:
            began = perf_counter()
            for number in range(n):
                ours[-1] = number
                got = call(number)
            seconds = perf_counter() - began
        right = np.array_equal(np.asarray(got), result(pattern, size, length, n - 1))
        return seconds, all(self.comm.allgather(right))

    def _call(self, pattern: str, arm: str, ours: Array, out: Array) -> Call:
        comm, size = self.comm, self.comm.size

        def reduced(_: int) -> Array:
            comm.Allreduce(ours, out)
            return out

        def gathered(_: int) -> Array:
            comm.Allgather(ours, out)
            return out

        def broadcast(number: int) -> Array:
            root = number % size
            taken = ours if comm.rank == root else out
            comm.Bcast(taken, root)
            return taken

        calls: dict[tuple[str, str], Call] = {
            ("allreduce", "pickled"): lambda _: comm.allreduce(ours),
            ("allreduce", "buffer"): reduced,
            ("allgather", "pickled"): lambda _: comm.allgather(ours),
            ("allgather", "buffer"): gathered,
            ("bcast", "pickled"): lambda number: comm.bcast(ours, number % size),
            ("bcast", "buffer"): broadcast,
        }
        return calls[pattern, arm]


def array(rank: int, length: int) -> Array:
    """The array of a rank, before the number of a call is written to its end."""
    return np.arange(rank, rank + length, dtype=np.float64)


def result(pattern: str, size: int, length: int, number: int) -> Array:
    """The result that each of `size` ranks must have after the call with this number."""
    every = np.stack([array(rank, length) for rank in range(size)])
    every[:, -1] = number
    if pattern == "allreduce":
        total: Array = every.sum(axis=0)
        return total
    return every if pattern == "allgather" else every[number % size]


class First:
    """Rank 0: commands the others, and keeps the time."""

    def __init__(self, peers: Peers, settings: Settings):
        self.member = Member(peers.comm, settings.ceilings)
        self.channels = [peers.channel(to=rank) for rank in range(1, peers.size)]

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Make `n` calls on arrays of `cell.x` elements."""
        if arm.ceiling and self.member.unavailable:
            return Block(0.0, fault=self.member.unavailable)
        block = cell.keys["pattern"], arm.runs, cell.x, n
        self.command(block)
        seconds, right = self.member.play(*block)
        return Block(seconds, {"call": seconds / n}) if right else Block(seconds, fault=DAMAGED)

    def command(self, block: tuple[str, str, int, int] | None) -> None:
        """Let all ranks run a block, or stop."""
        for channel in self.channels:
            channel.send(block)


def require_room(peers: Peers) -> None:
    """Raise Refusal unless the ranks are spread evenly over the hosts, and more than two have a processor each."""
    by_host = {host: [facts for facts in peers.ranks if facts["host"] == host] for host in peers.hosts}
    counts = {host: len(ranks) for host, ranks in by_host.items()}
    if max(counts.values()) > min(counts.values()) + 1:
        told = ", ".join(f"{count} on {host}" for host, count in counts.items())
        reason = f"the ranks are not spread evenly ({told}), because the launcher fills one host before the next"
        raise Refusal(HoleKind.WRONG_SETUP, f"{reason}; {launcher(f'{SUCH_AS} --distribution=cyclic')}")
    for host, ranks in by_host.items():
        free = len({processor for facts in ranks for processor in facts["affinity"].split(",")})
        if len(ranks) > max(2, free):
            reason = f"{len(ranks)} ranks have only {free} logical processors on {host}"
            raise Refusal(HoleKind.WRONG_SETUP, f"{reason}; remove {peers.size} from `rank_counts`")


@contextmanager
def drive(peers: Peers, settings: Settings) -> Iterator[First]:
    """Connect to the other ranks, and stop them at the end."""
    require_room(peers)
    first = First(peers, settings)
    yield first
    first.command(None)


def serve(peers: Peers, settings: Settings) -> None:
    """Take part in blocks until stopped."""
    require_room(peers)
    # In the order of rank 0: all ranks compare their ceilings.
    member, channel = Member(peers.comm, settings.ceilings), peers.channel(to=0)
    while (block := channel.receive()) is not None:
        member.play(*block)
