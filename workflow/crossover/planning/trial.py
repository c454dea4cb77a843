"""The size of a trial of a user's file: how many items, launches and seconds fit into the user's minutes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from crossover.design.config import MORE_IMPORTS
from crossover.design.farming import Look, of_programs

TRIAL = "try.yaml"
"""The configuration of a trial, in its folder of results."""
FACTOR = 8
"""Between two numbers of items."""
MOST_ITEMS = 100_000

LAUNCHES = 4
"""In each minute, and the fewest: launches say more than rounds."""
MOST_LAUNCHES = 12
FEWEST_LAUNCHES = 3
"""Of a function so long that each takes minutes."""
START_SECONDS = 3.5
"""Of a launch with the pools of the standard library and joblib, with its end, without imports of the user's file.
Measured on two cores."""
MESSAGE_START_SECONDS = 7.0
"""Of a launch that sends objects: each end tries each way first."""
AROUND_SECONDS = 14.0
"""Of a trial besides its launches: Snakemake, its start, tables and figures."""
ROUNDS = 1
"""The fewest of a cell; whole programs are so long that these suffice."""
ROUNDS_OF_CALLS = 2
"""There must be time for so many of a running pool."""
BLOCK_SECONDS = 0.01
SLACK = 1.25
"""One more number of items may take the trial a little over its time."""
LONGEST = 2
"""A function too long for the minutes has whole programs if a launch then takes at most so many times its share."""
CHECKS = 4
"""A cell's items run so many times besides its rounds: timed, for the expected results, in other processes, cold."""
MARGIN = 1.3
"""Pools of processes can be slower than the loop."""
PROGRAM_FACTOR = 2.2
"""A program with a pool takes so many times that of the loop: its workers import the file, too."""


@dataclass(frozen=True)
class Trial:
    """What a trial measures."""

    counts: tuple[int, ...]
    """Numbers of items, rising."""
    too_long: tuple[int, ...]
    """Wanted numbers of items that do not fit."""
    has_programs: bool
    """Whether there is time for whole programs."""
    launches: int
    """For each number of threads inside libraries."""
    budget_seconds: float
    """Of one launch."""
    seconds: float
    """The whole trial."""


@dataclass(frozen=True)
class Extent:
    """What a trial compares."""

    arms: int
    programs: int
    """The arms that are whole programs."""
    workers: int
    curves: int = 1
    """Of pools that are running."""
    turns: int = 1
    """Launches with other threads inside libraries."""


def launches_in(minutes: float) -> int:
    """The launches of a trial, as more minutes allow more of them."""
    return min(MOST_LAUNCHES, max(LAUNCHES, round(LAUNCHES * minutes)))


def budget_of(launches: int, minutes: float, start_seconds: float = START_SECONDS) -> float:
    """The seconds of a launch's budget if so many launches take so long together."""
    return max(1.0, (60 * minutes - AROUND_SECONDS) / launches - start_seconds)


def spread(values: Sequence[int], most: int = 3) -> list[int]:
    """At most so many of these values, evenly spread, with the first and the last.

    >>> spread([1, 10, 100, 1000, 10000, 100000, 1000000])
    [1, 1000, 1000000]
    """
    if len(values) <= most:
        return [*values]
    return [values[round(at * (len(values) - 1) / (most - 1))] for at in range(most)]


def trial(look: Look, extent: Extent, minutes: float, wanted: Sequence[int]) -> Trial:
    """The trial of a function that looks so; with all of the `wanted` numbers of items, if any.

    Without wanted ones, as many as fit in steps of FACTOR from 1 on. A function so long that not even one item fits
    is called with as many items as there are workers, in fewer launches, and takes the time that it needs.
    """

    def needed(counts: Sequence[int], programs: int, rounds: int = ROUNDS_OF_CALLS) -> float:
        """The seconds of a launch with these numbers of items."""
        blocks = sum(max(BLOCK_SECONDS, count * (look.task_seconds + look.sending_seconds)) for count in counts)
        # The null arm is one more.
        called = extent.curves * rounds * blocks * (extent.arms + 1) * MARGIN + CHECKS * sum(counts) * look.task_seconds
        in_programs = of_programs(counts) if programs else []
        start = PROGRAM_FACTOR * look.program_seconds
        return called + sum((programs + 1) * (start + count * look.task_seconds) for count in in_programs)

    def fitting(programs: int) -> list[int]:
        counts: list[int] = []
        for count in sorted({*(wanted or steps)}):
            if wanted or needed([*counts, count], programs) <= SLACK * budget:
                counts.append(count)
        return counts

    launches = launches_in(minutes)
    launches = max(FEWEST_LAUNCHES, launches // extent.turns) if extent.turns > 1 else launches
    programs, rounds = extent.programs, ROUNDS_OF_CALLS
    start = START_SECONDS + (extent.arms + MORE_IMPORTS) * look.import_seconds
    if launches * extent.turns * start > 60 * minutes:
        launches = FEWEST_LAUNCHES
    budget = budget_of(launches * extent.turns, minutes, start)
    steps = [FACTOR**power for power in range(round(math.log(MOST_ITEMS, FACTOR)) + 1)]
    counts = fitting(programs)
    if len(counts) < 2 and not wanted:
        programs, counts = 0, fitting(0)
    if len(counts) < 2 and not wanted:
        counts, launches, rounds = [extent.workers], FEWEST_LAUNCHES, ROUNDS
        programs = extent.programs if needed(counts, extent.programs, ROUNDS) <= LONGEST * budget else 0
    budget = max(budget, needed(counts, programs, rounds))
    return Trial(
        counts=tuple(counts),
        too_long=tuple(count for count in steps if count > counts[-1])[:1] if not wanted else (),
        has_programs=programs > 0,
        launches=launches,
        budget_seconds=round(budget, 1),
        seconds=AROUND_SECONDS + launches * extent.turns * (start + budget),
    )
