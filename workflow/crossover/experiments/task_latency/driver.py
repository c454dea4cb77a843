"""Floods of empty tasks: the rate of submission, and the rate of results.

A block is one or more floods of x tasks to one farm.

- submission = tasks / time from the first submit to the last one's return;
- round trip = tasks / time from the first submit to the last result.
"""

from crossover.design import farming
from crossover.design.cell import Cell
from crossover.experiments.task_latency import METRICS, Settings
from crossover.measure.farms import flooding
from crossover.measure.farms.tasks import Workload, echo, keys


def cells(settings: Settings) -> list[Cell]:
    """One cell per prelude and number of tasks."""
    return [
        Cell(keys(settings, "empty", engines=settings.engines, prelude=prelude), tasks, block_seconds=seconds)
        for prelude in settings.preludes
        for seconds in [farming.PAUSED_SHARE * settings.block_seconds if prelude == "pause" else None]
        for tasks in settings.tasks
    ]


def tasks(settings: Settings, cell: Cell, turns_per_second: float) -> Workload:
    """The tasks of a flood in this cell."""
    return Workload(echo, range(cell.x))


drive, serve = flooding(METRICS, tasks)
