"""Tasks that take time: the share of the engines' time that they spend in tasks.

A block is one or more floods of tasks to one farm, `tasks_per_engine` for each of its engines. The tasks take x
microseconds on average; their durations are `equal`, or `skewed` by a heavy-tailed distribution.

- efficiency = ideal time / time from the first submit to the last result. In the ideal time, every engine is always
  busy: the sum of the durations / engines;
- round trip = tasks / the same time.
"""

from crossover.design.cell import Cell
from crossover.experiments.task_map import LOOP, METRICS, Settings
from crossover.measure.farms import flooding
from crossover.measure.farms.tasks import Workload, keys, measurable, workload


def cells(settings: Settings) -> list[Cell]:
    """One cell per kind of work, distribution of durations and average duration."""
    every = (*settings.arms, *settings.ceilings)
    arms = {"spin": every, "sleep": tuple(name for name in every if name != LOOP)}
    fixed = {"engines": settings.engine_count(), "tasks_per_engine": settings.tasks_per_engine}
    return [
        Cell(
            keys(settings, work, durations=durations, **fixed),
            x,
            arms[work],
            least_seconds=settings.tasks_per_engine * x / 1e6,
        )
        for work in measurable(settings.work, settings.engine_count())
        for durations in settings.durations
        for x in (work == "spin" and settings.spin_durations_us) or settings.durations_us
    ]


def tasks(settings: Settings, cell: Cell, turns_per_second: float) -> Workload:
    """The tasks of a flood in this cell."""
    count = settings.engine_count() * settings.tasks_per_engine
    return workload(count, cell.keys["work"], cell.keys["durations"], cell.x, turns_per_second)


drive, serve = flooding(METRICS, tasks)
