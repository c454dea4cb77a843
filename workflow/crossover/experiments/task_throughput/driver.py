"""Tasks that echo an array: the bytes that a farm carries per second.

A block is one or more floods of tasks to one farm, as many as the setting `tasks`. Each task has the same array of x
random bytes as its argument and as its result.

- submission = tasks / time from the first submit to the last one's return;
- round trip = tasks / time from the first submit to the last result;
- payload one way = the arrays' bytes / the round trip's time. The same bytes also return in this time.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crossover.design.axis import points
from crossover.design.cell import Cell
from crossover.experiments.task_throughput import METRICS
from crossover.measure.farms import flooding
from crossover.measure.farms.support.tasks import echo
from crossover.measure.farms.support.workload import Workload, keys


def cells(settings: dict[str, Any]) -> list[Cell]:
    """One cell per array size."""
    curve = keys(settings, "echo", flood_tasks=settings["tasks"], engines=settings["engines"])
    return [Cell(curve, size) for size in points(settings["sizes_bytes"])]


def tasks(settings: dict[str, Any], cell: Cell) -> Workload:
    """The tasks of a flood in this cell."""
    count = settings["tasks"]
    return Workload(echo, [_array(cell.x)] * count, bytes=count * cell.x, same=np.array_equal)


@lru_cache(maxsize=1)
def _array(size_bytes: int) -> NDArray[np.uint8]:
    # Random bytes, because no farm can compress them.
    return np.random.default_rng(size_bytes).integers(0, 256, size_bytes, dtype=np.uint8)


drive, serve = flooding(METRICS, tasks)
