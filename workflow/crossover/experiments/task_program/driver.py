"""Whole programs with a pool, each in a process of its own, which rank 0 starts and waits for.

A block is one or more programs with the lines to paste of the farm. Python starts the workers as it does by default.

- whole program = time from before the imports of the pool's library until the process has ended.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.experiments.task_program import DURATION_US, Settings
from crossover.measure.farms import programs
from crossover.measure.farms.tasks import cores, measurable, turns_per_second
from crossover.measure.farms.user_code import unfold
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import Block

ITEMS = "def items(count):\n    return [{item}] * count\n\n\n"
TASKS = {
    "empty": f"{ITEMS}def task(item):\n    return item\n",
    "spin": f"{ITEMS}def task(turns):\n    left = turns\n    while left > 0:\n        left -= 1\n    return turns\n",
}
"""The text of a module with the tasks of each kind of work."""


def cells(settings: Settings) -> list[Cell]:
    """One cell per kind of work and number of tasks; each program takes longer than a block."""
    arms = programs.arms_of(settings.arms)
    spinning = {"duration_us": DURATION_US, "cores": cores()}
    return [
        Cell(
            {"work": work, "engines": settings.engines} | (spinning if work == "spin" else {}),
            count,
            arms,
            least_seconds=settings.block_seconds,
        )
        for work in settings.work
        if work == "empty" or measurable([work], settings.engines)
        for count in settings.tasks
    ]


class Programs:
    """The blocks: programs with the tasks of a cell."""

    def __init__(self, settings: Settings, items: dict[str, int]):
        self.settings, self.items = settings, items

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Run the arm's program `n` times."""
        work = cell.keys["work"]

        def are_right(results: list[Any]) -> bool:
            return results == [self.items[work]] * cell.x

        return programs.block(f"{work}_tasks.py", arm.runs, cell.x, self.settings.engines, n, are_right)


@contextmanager
def drive(peers: Peers, settings: Settings) -> Iterator[Programs]:
    """Write the modules that the programs import."""
    items = {"empty": 0}
    if "spin" in settings.work:
        items["spin"] = round(turns_per_second() * DURATION_US / 1e6)
    sources = {f"{work}_tasks.py": TASKS[work].format(item=item) for work, item in items.items()}
    with unfold(sources):
        yield Programs(settings, items)


def serve(peers: Peers, settings: Settings) -> None:
    """Never called: rank 0 is alone."""
