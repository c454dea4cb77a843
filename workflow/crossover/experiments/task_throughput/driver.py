"""Tasks that echo an array: the bytes that a farm carries per second.

A block is one or more floods of tasks to one farm, as many as the setting `tasks`. Each task has an
array of x random bytes of its own as its argument and as its result: of an array that several tasks have, some farms
send one copy for all.

- submission = tasks / time from the first submit to the last one's return;
- round trip = tasks / time from the first submit to the last result;
- payload one way = the arrays' bytes / the round trip's time. The same bytes also return in this time.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from crossover.design.cell import Cell
from crossover.experiments.task_throughput import METRICS, Settings
from crossover.measure.farms import flooding
from crossover.measure.farms.tasks import Workload, echo, keys


def cells(settings: Settings) -> list[Cell]:
    """One cell per array size."""
    curve = keys(settings, "echo", flood_tasks=settings.tasks, engines=settings.engines)
    return [Cell(curve, size) for size in settings.sizes_bytes]


def tasks(settings: Settings, cell: Cell, turns_per_second: float) -> Workload:
    """The tasks of a flood in this cell."""
    count = settings.tasks
    return Workload(echo, _arrays(count, cell.x), bytes=count * cell.x, same=np.array_equal)


@lru_cache(maxsize=1)
def _arrays(count: int, size_bytes: int) -> list[NDArray[np.uint8]]:
    # Random bytes, because no farm can compress them.
    random = np.random.default_rng(size_bytes)
    return [random.integers(0, 256, size_bytes, dtype=np.uint8) for _ in range(count)]


drive, serve = flooding(METRICS, tasks)
