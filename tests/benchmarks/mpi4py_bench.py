"""`python -m mpi4py.bench pingpong`, run again and again in one launch. Prints round trips in seconds by bytes.

The benchmark prints the mean of one loop, half a round trip; here the median of many short loops, a whole one, as ours.
"""

from __future__ import annotations

import json
import statistics

from mpi4py import MPI
from mpi4py.bench import pingpong

LOOPS = 60
SIZES_BYTES = (4096, 8192, 524_288, 1_048_576)

found: dict[int, list[float]] = {size: [] for size in SIZES_BYTES}
for _ in range(LOOPS):
    for size in SIZES_BYTES:
        once = ["-m", str(size), "-n", str(size), "--loop", "20", "--skip", "5", "--loop-large", "20"]
        [(_, mean_seconds, _)] = pingpong(MPI.COMM_WORLD, once, verbose=False)
        found[size].append(2 * mean_seconds)
if MPI.COMM_WORLD.rank == 0:
    print(json.dumps({size: statistics.median(values) for size, values in found.items()}))
