"""The rates and efficiencies of task farms by their number of engines.

A block is one or more floods of tasks to one farm with x engines. All farms of a launch have the same number of
engines, so each number has its own launches. The tasks are empty, as many as the setting `tasks`; or they sleep or spin
for one of `durations_us` (microseconds), `tasks_per_engine` for each engine.

- round trip = tasks / time from the first submit to the last result;
- efficiency = ideal time / the same time, for tasks that take time. In the ideal time, every engine is always busy.
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
from crossover.measure.farms.support.workload import Workload, cores_of, measurable, workload
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import Axis, Block, Cell, Metric
from crossover.planning.plan import Arm, points

__all__ = ["AXIS", "METRICS", "cells", "drive", "serve"]

AXIS = Axis("engines", "engines")
METRICS = (Metric("round trip", "tasks/s", "higher"), Metric("efficiency", "", "higher"))


def cells(settings: dict[str, Any]) -> list[Cell]:
    """One cell for empty tasks, and one per kind of work and duration, at this launch's number of engines."""
    engines = settings["engines"]
    shared = conditions.keys(settings)
    found = [Cell({"work": "empty", "flood_tasks": settings["tasks"]} | shared, engines)]
    for work in measurable(settings["work"], engines):
        for duration_us in points(settings["durations_us"]):
            own = {"work": work, "duration_us": duration_us, "tasks_per_engine": settings["tasks_per_engine"]}
            found.append(Cell(own | cores_of(work) | shared, engines))
    return found


class Floods:
    """Rank 0: submits the tasks to one farm at a time; `workloads` are those of each (work, duration in µs or None)."""

    def __init__(self, farms: dict[str, Farm], workloads: dict[tuple[str, int | None], Workload]):
        self.farms = farms
        self.workloads = workloads

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Run `n` floods of the cell's tasks on the arm's farm of `cell.x` engines."""
        given = self.workloads[cell.keys["work"], cell.keys.get("duration_us")]
        took = flood(self.farms[arm.name], given.task, given.arguments, n, same=eq)
        if not took.right:
            return Block(took.seconds, fault="lost or damaged messages")
        values = {"round trip": n * len(given.arguments) / took.seconds}
        if given.seconds:
            values["efficiency"] = n * given.seconds / cell.x / took.seconds
        return Block(took.seconds, values)


@contextmanager
def drive(peers: Peers, settings: dict[str, Any]) -> Iterator[Floods]:
    """Start the farms of all arms."""
    # Measured before any farm takes a core.
    turns = turns_per_second() if "spin" in settings["work"] else nan
    tasks = settings["engines"] * settings["tasks_per_engine"]
    workloads: dict[tuple[str, int | None], Workload] = {
        (work, duration_us): workload(work, "equal", tasks, duration_us, turns)
        for work in settings["work"]
        for duration_us in points(settings["durations_us"])
    }
    with side_by_side(peers, settings) as farms:
        yield Floods(farms, workloads | {("empty", None): Workload(echo, range(settings["tasks"]), 0.0)})
