"""The size of a trial of a user's function: how many items, launches and seconds fit into the user's minutes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

FACTOR = 8
"""Between two numbers of items."""
MOST_ITEMS = 100_000

LAUNCHES = 4
"""In each minute, and the fewest: launches say more than rounds."""
MOST_LAUNCHES = 12
FEWEST_LAUNCHES = 3
"""Of a function so long that each takes minutes."""
START_SECONDS = 3.5
"""Of a launch with the pools of the standard library and joblib, with its end. Measured on two cores."""
AROUND_SECONDS = 14.0
"""Of a trial besides its launches: Snakemake, its start, tables and figures."""
ROUNDS = 2
BLOCK_SECONDS = 0.01
CHECKS = 3
"""A cell's items run so many times besides its rounds: to time the function, for the expected results, cold."""
MARGIN = 1.3
"""Pools of processes can be slower than the loop."""


@dataclass(frozen=True)
class Trial:
    """What a trial measures."""

    counts: tuple[int, ...]
    """Numbers of items, rising."""
    too_long: tuple[int, ...]
    """Wanted numbers of items that do not fit."""
    launches: int
    rounds: int
    budget_seconds: float
    """Of one launch."""
    seconds: float
    """The whole trial."""


def trial(task_seconds: float, arms: int, minutes: float, wanted: Sequence[int], workers: int) -> Trial:
    """The trial of a function that takes so long, with so many arms; all of the `wanted` numbers of items, if any.

    Without wanted ones, as many as fit in steps of FACTOR from 1 on. A function so long that not even one item fits
    is called with as many items as there are workers, in fewer launches of one round, and takes the time that it needs.
    """

    def cost(count: int, rounds: int) -> float:
        block = max(BLOCK_SECONDS, count * task_seconds)
        # The null arm is one more.
        return rounds * block * (arms + 1) * MARGIN + CHECKS * count * task_seconds

    launches, rounds = min(MOST_LAUNCHES, max(LAUNCHES, round(LAUNCHES * minutes))), ROUNDS
    budget = max(1.0, (60 * minutes - AROUND_SECONDS) / launches - START_SECONDS)
    steps = [FACTOR**power for power in range(round(math.log(MOST_ITEMS, FACTOR)) + 1)]
    counts: list[int] = []
    for count in sorted({*(wanted or steps)}):
        if wanted or sum(cost(each, ROUNDS) for each in [*counts, count]) <= budget:
            counts.append(count)
    if len(counts) < 2 and not wanted:
        counts, launches, rounds = [workers], FEWEST_LAUNCHES, 1
    needed = sum(cost(count, rounds) for count in counts)
    budget = max(budget, needed)
    return Trial(
        counts=tuple(counts),
        too_long=tuple(count for count in steps if count > counts[-1])[:1] if not wanted else (),
        launches=launches,
        rounds=rounds,
        budget_seconds=round(budget, 1),
        seconds=AROUND_SECONDS + launches * (START_SECONDS + budget),
    )
