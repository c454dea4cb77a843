"""Tasks that last: which share of the engines' time goes into the tasks, and not into farming them out.

One block is one or more floods of tasks to one farm, `tasks_per_engine` for each of its engines, which last x
microseconds on average: all the same (`equal`), or as unlike as a heavy-tailed distribution makes them (`skewed`).

- efficiency = ideal time / time from the first submit to the last result. Ideal is that every engine works all the
  time: the sum of the durations / engines;
- round trip = tasks / the same time.

A task sleeps or spins. Sleeping takes no core, so it measures the farm alone. Spinning is a fixed amount of work, as
many turns as take the duration on a core that is left alone: client, scheduler and engines then compete for the cores,
as they would in earnest. With more engines than cores that would say nothing about the farm, so there is no such cell.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import eq
from random import Random
from typing import Any

from crossover.measure.farms import Farm, Task, flood, serve, side_by_side
from crossover.measure.peers import Peers
from crossover.measure.sampler import Axis, Block, Cell, Metric
from crossover.measure.tasks import sleep, spin, turns_per_second
from crossover.plan import Arm, points

__all__ = ["AXIS", "METRICS", "cells", "drive", "serve"]

AXIS = Axis("task duration", "µs")
METRICS = (Metric("efficiency", "", "higher", levels=(0.5, 0.95)), Metric("round trip", "tasks/s", "higher"))

TAIL_EXPONENT = 1.5
"""Of the Pareto distribution of skewed durations: a finite mean, an infinite variance."""


def cells(settings: dict[str, Any]) -> list[Cell]:
    """One cell per way of taking time, kind of durations and average duration."""
    engines, cores = settings["engines"], len(os.sched_getaffinity(0))
    found = []
    for work in settings["work"]:
        if work == "sleep" or engines <= cores:
            for durations in settings["durations"]:
                where = f"engines: {engines}" + (f", cores: {cores}" if work == "spin" else "")
                protocol = f"tasks {work}, {durations} durations, {where}"
                found += [Cell(protocol, x, f"{work} {durations}") for x in points(settings["durations_us"])]
    return found


def shares(durations: str, tasks: int) -> list[float]:
    """The durations of `tasks` tasks, in units of their mean: all 1, or the quantiles of a Pareto distribution.

    The same at every call, in an order that does not favour who gives tasks out in turn.
    """
    if durations == "equal":
        return [1.0] * tasks
    quantiles = [(1 - (at + 0.5) / tasks) ** (-1 / TAIL_EXPONENT) for at in range(tasks)]
    Random(tasks).shuffle(quantiles)
    mean = sum(quantiles) / tasks
    return [quantile / mean for quantile in quantiles]


class Workloads:
    """Rank 0: gives one farm at a time its tasks."""

    def __init__(self, farms: dict[str, Farm], engines: int, tasks_per_engine: int, turns_per_second: float):
        self.farms = farms
        self.engines = engines
        self.tasks = engines * tasks_per_engine
        self.turns_per_second = turns_per_second

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """`n` floods of tasks that last `cell.x` microseconds on average."""
        work, durations = cell.variant.split()
        seconds = [share * cell.x / 1e6 for share in shares(durations, self.tasks)]
        task, arguments = self._work(work, seconds)
        took = flood(self.farms[arm.name], task, arguments, n, same=eq)
        if not took.right:
            return Block(took.seconds, fault="lost or damaged messages")
        ideal = n * sum(seconds) / self.engines
        return Block(took.seconds, {"efficiency": ideal / took.seconds, "round trip": n * self.tasks / took.seconds})

    def _work(self, work: str, seconds: Sequence[float]) -> tuple[Task, Sequence[Any]]:
        if work == "sleep":
            return sleep, seconds
        return spin, [max(1, round(each * self.turns_per_second)) for each in seconds]


@contextmanager
def drive(peers: Peers, settings: dict[str, Any]) -> Iterator[Workloads]:
    """Give tasks to the farms of all arms."""
    # Before any farm is there to take a core away.
    turns = turns_per_second()
    with side_by_side(peers, settings) as farms:
        yield Workloads(farms, settings["engines"], settings["tasks_per_engine"], turns)
