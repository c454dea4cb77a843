"""More and more engines: whether a farm hands out as many tasks as they could do.

One block is one or more floods of tasks to one farm with x engines. A launch holds farms of one such number alone, so
each number has launches of its own. Either the tasks are empty, and as many as the setting `tasks` says; or they sleep
or spin for one of `durations_us` each, in microseconds, `tasks_per_engine` for every engine.

- round trip = tasks / time from the first submit to the last result;
- efficiency = ideal time / the same time, of tasks that last. Ideal is that every engine works all the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import nan
from operator import eq
from typing import Any

from crossover.measure.farms import Farm, flood, serve, side_by_side
from crossover.measure.farms.support import conditions
from crossover.measure.farms.support.tasks import echo, turns_per_second
from crossover.measure.farms.support.workload import Workload, cores_of, telling, workload
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import Axis, Block, Cell, Metric
from crossover.planning.plan import Arm, points

__all__ = ["AXIS", "METRICS", "cells", "drive", "serve"]

AXIS = Axis("engines", "engines")
METRICS = (Metric("round trip", "tasks/s", "higher"), Metric("efficiency", "", "higher"))


def cells(settings: dict[str, Any]) -> list[Cell]:
    """One cell for empty tasks and one for each way of taking time and duration, at this launch's number of engines."""
    engines = settings["engines"]
    shared = conditions.keys(settings)
    found = [Cell({"work": "empty", "flood_tasks": settings["tasks"]} | shared, engines, "empty")]
    for work in telling(settings["work"], engines):
        for duration_us in points(settings["durations_us"]):
            own = {"work": work, "duration_us": duration_us, "tasks_per_engine": settings["tasks_per_engine"]}
            found.append(Cell(own | cores_of(work) | shared, engines, f"{work} {duration_us}"))
    return found


class Floods:
    """Rank 0: gives one farm at a time its tasks. `workloads` has them by the cell's variant."""

    def __init__(self, farms: dict[str, Farm], workloads: dict[str, Workload]):
        self.farms = farms
        self.workloads = workloads

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """`n` floods of the cell's tasks to the arm's farm of `cell.x` engines."""
        given = self.workloads[cell.variant]
        took = flood(self.farms[arm.name], given.task, given.arguments, n, same=eq)
        if not took.right:
            return Block(took.seconds, fault="lost or damaged messages")
        values = {"round trip": n * len(given.arguments) / took.seconds}
        if given.seconds:
            values["efficiency"] = n * given.seconds / cell.x / took.seconds
        return Block(took.seconds, values)


@contextmanager
def drive(peers: Peers, settings: dict[str, Any]) -> Iterator[Floods]:
    """Give tasks to the farms of all arms."""
    # Before any farm is there to take a core away.
    turns = turns_per_second() if "spin" in settings["work"] else nan
    tasks = settings["engines"] * settings["tasks_per_engine"]
    workloads = {
        f"{work} {duration_us}": workload(work, "equal", tasks, duration_us, turns)
        for work in settings["work"]
        for duration_us in points(settings["durations_us"])
    }
    with side_by_side(peers, settings) as farms:
        yield Floods(farms, workloads | {"empty": Workload(echo, range(settings["tasks"]), 0.0)})
