"""`python -m mpi4py.bench pingpong`, run again and again in one launch. Prints round trips in seconds by elements.

The benchmark prints the mean of one loop, half a round trip; here the median of many short loops, a whole one, as ours.

Its arrays are `numpy.empty`: nobody ever wrote to them, so all pages of the one that is sent are the kernel's one page
of zeros, which stays in the cache. `--written` gives it arrays with pages of their own, as arrays that hold data have.
`--best` prints the best loop instead of the median one.
"""

from __future__ import annotations

import json
import statistics
import sys

import numpy
from mpi4py import MPI
from mpi4py.bench import pingpong

LOOPS = 60
ELEMENTS = (1_024, 65_536, 131_072)
ITEM_BYTES = 8

if "--written" in sys.argv:
    numpy.empty = numpy.ones

found: dict[int, list[float]] = {elements: [] for elements in ELEMENTS}
for _ in range(LOOPS):
    for elements in ELEMENTS:
        size = str(elements * ITEM_BYTES)
        once = ["-m", size, "-n", size, "--loop", "20", "--skip", "5", "--loop-large", "20"]
        [(_, mean_seconds, _)] = pingpong(MPI.COMM_WORLD, once, verbose=False)
        found[elements].append(2 * mean_seconds)
if MPI.COMM_WORLD.rank == 0:
    summary = min if "--best" in sys.argv else statistics.median
    print(json.dumps({elements: summary(values) for elements, values in found.items()}))
