"""Tasks that echo an array: the bytes that a farm carries per second.

A block is one or more floods of tasks to one farm, as many as the setting `tasks`. Each task has the same array of x
random bytes as its argument and as its result.

- submission = tasks / time from the first submit to the last one's return;
- round trip = tasks / time from the first submit to the last result;
- payload one way = the arrays' bytes / the round trip's time. The same bytes also return in this time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crossover.measure.farms import Farm, flood, serve, side_by_side
from crossover.measure.farms.support import conditions
from crossover.measure.farms.support.tasks import echo
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import Axis, Block, Cell, Metric
from crossover.planning.plan import Arm, points

__all__ = ["AXIS", "METRICS", "cells", "drive", "serve"]

AXIS = Axis("array size", "bytes")
METRICS = (
    Metric("submission", "tasks/s", "higher"),
    Metric("round trip", "tasks/s", "higher"),
    Metric("payload one way", "MB/s", "higher"),
)


def cells(settings: dict[str, Any]) -> list[Cell]:
    """One cell per array size."""
    own = {"work": "echo", "flood_tasks": settings["tasks"], "engines": settings["engines"]}
    keys = own | conditions.keys(settings)
    return [Cell(keys, size) for size in points(settings["sizes_bytes"])]


class Echoes:
    """Rank 0: submits the tasks to one farm at a time."""

    def __init__(self, farms: dict[str, Farm], tasks: int):
        self.farms = farms
        self.tasks = tasks
        self.array: NDArray[np.uint8] = np.empty(0, dtype=np.uint8)

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Run `n` floods of tasks on the arm's farm; each echoes `cell.x` bytes."""
        if len(self.array) != cell.x:
            # Random bytes, because no farm can compress them.
            self.array = np.random.default_rng(cell.x).integers(0, 256, cell.x, dtype=np.uint8)
        took = flood(self.farms[arm.name], echo, [self.array] * self.tasks, n, same=np.array_equal)
        if not took.right:
            return Block(took.seconds, fault="lost or damaged messages")
        tasks = n * self.tasks
        return Block(
            took.seconds,
            {
                "submission": tasks / took.submitting_seconds,
                "round trip": tasks / took.seconds,
                "payload one way": tasks * cell.x / took.seconds / 1e6,
            },
        )


@contextmanager
def drive(peers: Peers, settings: dict[str, Any]) -> Iterator[Echoes]:
    """Start the farms of all arms."""
    with side_by_side(peers, settings) as farms:
        yield Echoes(farms, settings["tasks"])
