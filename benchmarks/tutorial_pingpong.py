"""`send`/`recv` and `Send`/`Recv` of a float64 array between two ranks, as in a tutorial: a plain loop, one array.

Takes `send` or `Send` and then elements; prints seconds per round trip by elements, the median over repeats. The
received array is sent back, as in our re-sent arrays.
"""

from __future__ import annotations

import json
import statistics
import sys
from time import perf_counter

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

REPEATS = 20
REPEAT_SECONDS = 0.05

Array = NDArray[np.float64]


def pickled(comm: MPI.Comm, array: Array, count: int) -> None:
    """`count` round trips by the calls that pickle."""
    for _ in range(count):
        if comm.rank == 0:
            comm.send(array, dest=1)
            comm.recv(source=1)
        else:
            comm.recv(source=0)
            comm.send(array, dest=0)


def buffered(comm: MPI.Comm, array: Array, count: int) -> None:
    """`count` round trips by the calls that pass the buffer."""
    for _ in range(count):
        if comm.rank == 0:
            comm.Send(array, dest=1)
            comm.Recv(array, source=1)
        else:
            comm.Recv(array, source=0)
            comm.Send(array, dest=0)


def main(kind: str, *elements: str) -> None:
    """Measure every length; rank 0 prints."""
    comm = MPI.COMM_WORLD
    play = {"send": pickled, "Send": buffered}[kind]

    def seconds(array: Array, count: int) -> float:
        comm.Barrier()
        began = perf_counter()
        play(comm, array, count)
        return (perf_counter() - began) / count

    found = {}
    for length in map(int, elements):
        array = np.random.default_rng(length).random(length)
        count = comm.bcast(max(1, int(REPEAT_SECONDS / seconds(array, 10))))
        found[length] = statistics.median([seconds(array, count) for _ in range(REPEATS)])
    if comm.rank == 0:
        print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
