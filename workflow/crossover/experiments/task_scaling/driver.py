"""The rates and efficiencies of task farms by their number of engines.

A block is one or more floods of tasks to one farm with x engines. All farms of a launch have the same number of
engines, so each number has its own launches. The tasks are empty, as many as the setting `tasks`; or they sleep or spin
for one of `durations_us` (microseconds), `tasks_per_engine` for each engine.

- round trip = tasks / time from the first submit to the last result;
- efficiency = ideal time / the same time, for tasks that take time. In the ideal time, every engine is always busy.
"""

from crossover.design.cell import Cell
from crossover.experiments.task_scaling import METRICS, Settings
from crossover.measure.farms import flooding
from crossover.measure.farms.tasks import Workload, echo, keys, measurable, workload


def cells(settings: Settings) -> list[Cell]:
    """One cell for empty tasks, and one per kind of work and duration, at this launch's number of engines."""
    curves = [keys(settings, "empty", flood_tasks=settings.tasks)]
    curves += [
        keys(settings, work, duration_us=duration_us, tasks_per_engine=settings.tasks_per_engine)
        for work in measurable(settings.work, settings.engine_count())
        for duration_us in settings.durations_us
    ]
    return [Cell(curve, settings.engine_count()) for curve in curves]


def tasks(settings: Settings, cell: Cell, turns_per_second: float) -> Workload:
    """The tasks of a flood in this cell."""
    if cell.keys["work"] == "empty":
        return Workload(echo, range(settings.tasks))
    count = settings.engine_count() * settings.tasks_per_engine
    return workload(count, cell.keys["work"], "equal", cell.keys["duration_us"], turns_per_second)


drive, serve = flooding(METRICS, tasks)
