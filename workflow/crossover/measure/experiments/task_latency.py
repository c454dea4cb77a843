"""Floods of empty tasks: the rate of submission, and the rate of results.

A block is one or more floods of x tasks to one farm.

- submission = tasks / time from the first submit to the last one's return;
- round trip = tasks / time from the first submit to the last result.
"""

from contextlib import AbstractContextManager
from typing import Any

from crossover.measure.farms import floods, serve
from crossover.measure.farms.support.tasks import echo
from crossover.measure.farms.support.workload import Workload, keys
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import Axis, Blocks, Cell, Metric
from crossover.planning.plan import points

__all__ = ["AXIS", "METRICS", "cells", "drive", "serve"]

AXIS = Axis("tasks", "tasks")
METRICS = (Metric("submission", "tasks/s", "higher"), Metric("round trip", "tasks/s", "higher"))


def cells(settings: dict[str, Any]) -> list[Cell]:
    """One cell per number of tasks."""
    curve = keys(settings, "empty", engines=settings["engines"])
    return [Cell(curve, tasks) for tasks in points(settings["tasks"])]


def tasks(cell: Cell) -> Workload:
    """The tasks of a flood in this cell."""
    return Workload(echo, range(cell.x))


def drive(peers: Peers, settings: dict[str, Any]) -> AbstractContextManager[Blocks]:
    """Start the farms of all arms."""
    return floods(peers, settings, METRICS, tasks)
