"""Collective calls of float64 arrays in a plain loop, as in mpi4py's tutorial; started as ranks.

It follows the tutorial's section "Collective communication" (mpi4py.readthedocs.io/en/stable/tutorial.html). Takes
`allreduce`, `Allreduce`, `allgather`, `Allgather` or `bcast`, and then numbers of elements; with `bcast in turn`, the
ranks take turns as the root, as in ours. Prints seconds per call by elements, the median over repeats.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

REPEATS = 20
REPEAT_SECONDS = 0.05
Array = NDArray[np.float64]


def calls(comm: MPI.Intracomm, kind: str, array: Array) -> Callable[[int], Any]:
    """The function that makes the call with a number."""
    # No array that the call does not need: it would change which memory glibc keeps.
    out = np.zeros((comm.size, *array.shape) if kind == "Allgather" else array.shape)
    every: dict[str, Callable[[int], Any]] = {
        "allreduce": lambda _: comm.allreduce(array),
        "Allreduce": lambda _: comm.Allreduce(array, out),
        "allgather": lambda _: comm.allgather(array),
        "Allgather": lambda _: comm.Allgather(array, out),
        "bcast": lambda _: comm.bcast(array, root=0),
        "bcast in turn": lambda number: comm.bcast(array, root=number % comm.size),
    }
    return every[kind]


def main(kind: str, *elements: str) -> None:
    """Measure every length; rank 0 prints."""
    comm = MPI.COMM_WORLD

    def seconds(call: Callable[[int], Any], count: int) -> float:
        comm.Barrier()
        began = perf_counter()
        for number in range(count):
            call(number)
        return (perf_counter() - began) / count

    found = {}
    for length in map(int, elements):
        call = calls(comm, kind, np.random.default_rng(length).random(length))
        count = comm.bcast(max(1, int(REPEAT_SECONDS / seconds(call, 50))))
        found[length] = statistics.median([seconds(call, count) for _ in range(REPEATS)])
    if comm.rank == 0:
        print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
