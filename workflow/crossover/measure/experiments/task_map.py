"""Tasks that take time: the share of the engines' time that they spend in tasks.

A block is one or more floods of tasks to one farm, `tasks_per_engine` for each of its engines. The tasks take x
microseconds on average; their durations are `equal`, or `skewed` by a heavy-tailed distribution.

- efficiency = ideal time / time from the first submit to the last result. In the ideal time, every engine is always
  busy: the sum of the durations / engines;
- round trip = tasks / the same time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import nan
from operator import eq
from typing import Any

from crossover.measure.farms import Farm, flood, serve, side_by_side
from crossover.measure.farms.support import conditions
from crossover.measure.farms.support.tasks import turns_per_second
from crossover.measure.farms.support.workload import cores_of, measurable, workload
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import Axis, Block, Cell, Metric
from crossover.planning.plan import Arm, points

__all__ = ["AXIS", "METRICS", "cells", "drive", "serve"]

AXIS = Axis("task duration", "µs")
METRICS = (Metric("efficiency", "", "higher", levels=(0.5, 0.95)), Metric("round trip", "tasks/s", "higher"))


def cells(settings: dict[str, Any]) -> list[Cell]:
    """One cell per kind of work, distribution of durations and average duration."""
    engines = settings["engines"]
    found = []
    for work in measurable(settings["work"], engines):
        for durations in settings["durations"]:
            own = {"work": work, "durations": durations, "engines": engines}
            own |= {"tasks_per_engine": settings["tasks_per_engine"]}
            keys = own | cores_of(work) | conditions.keys(settings)
            found += [Cell(keys, x) for x in points(settings["durations_us"])]
    return found


class Workloads:
    """Rank 0: submits the tasks to one farm at a time."""

    def __init__(self, farms: dict[str, Farm], engines: int, tasks_per_engine: int, turns_per_second: float):
        self.farms = farms
        self.engines = engines
        self.tasks = engines * tasks_per_engine
        self.turns_per_second = turns_per_second

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Run `n` floods of tasks of `cell.x` microseconds on average on the arm's farm."""
        given = workload(cell.keys["work"], cell.keys["durations"], self.tasks, cell.x, self.turns_per_second)
        took = flood(self.farms[arm.name], given.task, given.arguments, n, same=eq)
        if not took.right:
            return Block(took.seconds, fault="lost or damaged messages")
        ideal = n * given.seconds / self.engines
        return Block(took.seconds, {"efficiency": ideal / took.seconds, "round trip": n * self.tasks / took.seconds})


@contextmanager
def drive(peers: Peers, settings: dict[str, Any]) -> Iterator[Workloads]:
    """Start the farms of all arms."""
    # Measured before any farm takes a core.
    turns = turns_per_second() if "spin" in settings["work"] else nan
    with side_by_side(peers, settings) as farms:
        yield Workloads(farms, settings["engines"], settings["tasks_per_engine"], turns)
