"""Floods of empty tasks: the rate of submission, and the rate of results.

A block is one or more floods of x tasks to one farm.

- submission = tasks / time from the first submit to the last one's return;
- round trip = tasks / time from the first submit to the last result.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from operator import eq
from typing import Any

from crossover.measure.farms import Farm, flood, serve, side_by_side
from crossover.measure.farms.support import conditions
from crossover.measure.farms.support.tasks import echo
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import Axis, Block, Cell, Metric
from crossover.planning.plan import Arm, points

__all__ = ["AXIS", "METRICS", "cells", "drive", "serve"]

AXIS = Axis("tasks", "tasks")
METRICS = (Metric("submission", "tasks/s", "higher"), Metric("round trip", "tasks/s", "higher"))


def cells(settings: dict[str, Any]) -> list[Cell]:
    """One cell per number of tasks."""
    keys = {"work": "empty", "engines": settings["engines"]} | conditions.keys(settings)
    return [Cell(keys, tasks) for tasks in points(settings["tasks"])]


class Floods:
    """Rank 0: submits the tasks to one farm at a time."""

    def __init__(self, farms: dict[str, Farm]):
        self.farms = farms

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Run `n` floods of `cell.x` tasks on the arm's farm."""
        took = flood(self.farms[arm.name], echo, range(cell.x), n, same=eq)
        if not took.right:
            return Block(took.seconds, fault="lost or damaged messages")
        tasks = n * cell.x
        return Block(took.seconds, {"submission": tasks / took.submitting_seconds, "round trip": tasks / took.seconds})


@contextmanager
def drive(peers: Peers, settings: dict[str, Any]) -> Iterator[Floods]:
    """Start the farms of all arms."""
    with side_by_side(peers, settings) as farms:
        yield Floods(farms)
