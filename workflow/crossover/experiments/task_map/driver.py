"""Tasks that take time: the share of the engines' time that they spend in tasks.

A block is one or more floods of tasks to one farm, `tasks_per_engine` for each of its engines. The tasks take x
microseconds on average; their durations are `equal`, or `skewed` by a heavy-tailed distribution.

- efficiency = ideal time / time from the first submit to the last result. In the ideal time, every engine is always
  busy: the sum of the durations / engines;
- round trip = tasks / the same time.
"""

from typing import Any

from crossover.design.axis import points
from crossover.design.cell import Cell
from crossover.experiments.task_map import METRICS
from crossover.measure.farms import flooding
from crossover.measure.farms.support.workload import Workload, keys, measurable, workload


def cells(settings: dict[str, Any]) -> list[Cell]:
    """One cell per kind of work, distribution of durations and average duration."""
    fixed = {name: settings[name] for name in ("engines", "tasks_per_engine")}
    return [
        Cell(keys(settings, work, durations=durations, **fixed), x)
        for work in measurable(settings["work"], settings["engines"])
        for durations in settings["durations"]
        for x in points(settings["durations_us"])
    ]


def tasks(settings: dict[str, Any], cell: Cell) -> Workload:
    """The tasks of a flood in this cell."""
    return workload(settings, cell.keys["work"], cell.keys["durations"], cell.x)


drive, serve = flooding(METRICS, tasks)
