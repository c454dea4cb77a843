"""`python -m mpi4py.bench pingpong`, repeated in one launch. Prints seconds per round trip by elements.

The benchmark itself prints the mean of one loop, as half a round trip. This prints the median of many short loops, as a
whole round trip, like ours.

Its arrays are `numpy.empty` and never written to, so all pages of the sent array are the kernel's single page of zeros,
which stays in the cache. `--written` gives them pages of their own, like those of arrays that hold data. `--best`
prints the best loop instead of the median.
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
