"""A user's function: calls of it for all items, in a loop and on task farms.

A block is one or more calls for as many items as the cell has. Each call hands the items to a farm whose workers run
already, and waits for all results, which are compared with the loop's.

- round trip = items / time from the first submit to the last result.

Every rank writes the user's file, as its launch stores it, to a folder of its own and imports it from there. So the
function is the one that was read when the run was planned, on every host.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.experiments.own_task import METRICS, Settings
from crossover.measure.farms import Floods, flooding
from crossover.measure.farms.pilot import look
from crossover.measure.farms.tasks import Workload, keys
from crossover.measure.farms.user_code import Functions, functions, reason_of, unfold
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import Block

__all__ = ["cells", "drive", "look", "serve"]

LONGEST = 2
"""A cell is left out if a round of it would take so many times the budget, unless it is the shortest."""

_item_seconds = 0.0


def cells(settings: Settings) -> list[Cell]:
    """One cell per number of items, as far as a round of it fits; the driver has timed the function before."""
    curve = keys(settings, "user", engines=settings.engines)
    fitting = LONGEST * settings.seconds / max(1e-9, _item_seconds * len(settings.arms))
    counts = [count for count in settings.item_counts if count <= fitting] or [min(settings.item_counts)]
    return [Cell(curve, count, least_seconds=_item_seconds * count / settings.engines) for count in counts]


def tasks(settings: Settings, cell: Cell, turns_per_second: float) -> Workload:
    """The items of one call."""
    code = functions(settings.file)
    items = _items(code, cell.x)
    return Workload(code.task, items, same=partial(_same, code, _expected(code, cell.x)))


@cache
def _items(code: Functions, count: int) -> list[Any]:
    return [*code.items(count)]


@cache
def _expected(code: Functions, count: int) -> dict[int, Any]:
    """The loop's results by the identity of their items, which live as long as this process."""
    return {id(item): code.task(item) for item in _items(code, count)}


def _same(code: Functions, expected: dict[int, Any], got: Any, item: Any) -> bool:
    return code.same(got, expected[id(item)])


class Guard:
    """The blocks of the farms; an arm that raises is not called again."""

    def __init__(self, floods: Floods, file: str):
        self.floods, self.file = floods, file
        self.faults: dict[str, str] = {}

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Call the function for all items, `n` times."""
        if arm.name not in self.faults:
            try:
                return self.floods.run(cell, arm, n)
            except Exception as error:
                self.faults[arm.name] = reason_of(error, self.file)
        return Block(0.0, fault=self.faults[arm.name])


_drive, _serve = flooding(METRICS, tasks)


@contextmanager
def drive(peers: Peers, settings: Settings) -> Iterator[Guard]:
    """Time the function, then start the farms."""
    global _item_seconds
    with unfold(settings.sources):
        code = functions(settings.file)
        (item,) = code.items(1)[:1]
        code.task(item)
        began = time.perf_counter()
        code.task(item)
        _item_seconds = time.perf_counter() - began
        with _drive(peers, settings) as floods:
            yield Guard(floods, settings.file)


def serve(peers: Peers, settings: Settings) -> None:
    """Run an engine."""
    with unfold(settings.sources):
        _serve(peers, settings)
