"""Our C ping-pong between two plain ranks, the ceiling of `mpi_pingpong`. Prints seconds per round trip by elements,
the best of many runs.

Takes the library's file and elements:repeats. Like NetPIPE, and like the ceiling of a re-sent array, it sends from the
buffer that it receives into, so the bytes that it sends have just been written.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

from crossover.measure.native import ceiling_mpi, loader

ITEM_BYTES = 8
RUNS = 20


def main(library: str, *points: str) -> None:
    """Measure every point; rank 0 prints."""
    os.environ |= loader.variables([Path(library)])
    comm = MPI.COMM_WORLD
    exchange = ceiling_mpi.pingpong(comm, 1 - comm.rank)
    found = {}
    for elements, repeats in (map(int, point.split(":")) for point in points):
        buffer = np.ones(elements * ITEM_BYTES, np.uint8)
        found[elements] = min(exchange(buffer, buffer, repeats) / repeats for _ in range(RUNS))
    if comm.rank == 0:
        print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
