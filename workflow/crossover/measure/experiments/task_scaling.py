"""The rates and efficiencies of task farms by their number of engines.

A block is one or more floods of tasks to one farm with x engines. All farms of a launch have the same number of
engines, so each number has its own launches. The tasks are empty, as many as the setting `tasks`; or they sleep or spin
for one of `durations_us` (microseconds), `tasks_per_engine` for each engine.

- round trip = tasks / time from the first submit to the last result;
- efficiency = ideal time / the same time, for tasks that take time. In the ideal time, every engine is always busy.
"""

from contextlib import AbstractContextManager
from functools import partial
from math import nan
from typing import Any

from crossover.measure.farms import floods, serve
from crossover.measure.farms.support.tasks import echo, turns_per_second
from crossover.measure.farms.support.workload import Workload, keys, measurable, workload
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import Axis, Blocks, Cell, Metric
from crossover.planning.plan import points

__all__ = ["AXIS", "METRICS", "cells", "drive", "serve"]

AXIS = Axis("engines", "engines")
METRICS = (Metric("round trip", "tasks/s", "higher"), Metric("efficiency", "", "higher"))


def cells(settings: dict[str, Any]) -> list[Cell]:
    """One cell for empty tasks, and one per kind of work and duration, at this launch's number of engines."""
    curves = [keys(settings, "empty", flood_tasks=settings["tasks"])]
    curves += [
        keys(settings, work, duration_us=duration_us, tasks_per_engine=settings["tasks_per_engine"])
        for work in measurable(settings["work"], settings["engines"])
        for duration_us in points(settings["durations_us"])
    ]
    return [Cell(curve, settings["engines"]) for curve in curves]


def tasks(settings: dict[str, Any], turns: float, cell: Cell) -> Workload:
    """The tasks of a flood in this cell, on cores of so many turns per second."""
    if cell.keys["work"] == "empty":
        return Workload(echo, range(settings["tasks"]))
    count = settings["engines"] * settings["tasks_per_engine"]
    return workload(cell.keys["work"], "equal", count, cell.keys["duration_us"], turns)


def drive(peers: Peers, settings: dict[str, Any]) -> AbstractContextManager[Blocks]:
    """Start the farms of all arms."""
    # Measured before any farm takes a core.
    turns = turns_per_second() if "spin" in settings["work"] else nan
    return floods(peers, settings, METRICS, partial(tasks, settings, turns))
