"""The tasks of a flood that take time: their kind of work, and their durations.

A task sleeps or spins. Sleeping uses no core, so it measures the farm alone. Spinning is a fixed amount of work, which
takes the task's duration on an idle core. Client, scheduler and engines compete for the cores then, as in real use.
With more engines than cores, spinning tasks would not measure the farm.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from crossover.measure.farms.support.tasks import sleep, spin

TAIL_EXPONENT = 1.5
"""The exponent of the Pareto distribution of skewed durations: a finite mean, an infinite variance."""


@dataclass(frozen=True)
class Workload:
    """The tasks of a flood, one per argument, and the sum of their durations in seconds."""

    task: Callable[[Any], Any]
    arguments: Sequence[Any]
    seconds: float


def workload(work: str, durations: str, tasks: int, average_us: float, turns_per_second: float) -> Workload:
    """`tasks` tasks that `sleep` or `spin` for `average_us` microseconds on average, spread as `shares` describes."""
    seconds = [share * average_us / 1e6 for share in shares(durations, tasks)]
    if work == "sleep":
        return Workload(sleep, seconds, sum(seconds))
    return Workload(spin, [max(1, round(each * turns_per_second)) for each in seconds], sum(seconds))


def shares(durations: str, tasks: int) -> list[float]:
    """The durations of `tasks` tasks, in units of their mean: all 1, or the quantiles of a Pareto distribution.

    Every call returns the same, in an order that does not favour farms that assign tasks in turn.
    """
    if durations == "equal":
        return [1.0] * tasks
    quantiles = [(1 - (at + 0.5) / tasks) ** (-1 / TAIL_EXPONENT) for at in range(tasks)]
    Random(tasks).shuffle(quantiles)
    mean = sum(quantiles) / tasks
    return [quantile / mean for quantile in quantiles]


def cores() -> int:
    """The number of cores that this process and the engines of its launch may use."""
    return len(os.sched_getaffinity(0))


def cores_of(work: str) -> dict[str, int]:
    """The key for the cores that tasks compete for; only spinning tasks have it, because sleeping ones use no core."""
    return {"cores": cores()} if work == "spin" else {}


def measurable(works: Sequence[str], engines: int) -> list[str]:
    """The kinds of `works` that measure a farm with this many engines: spinning needs a core for each."""
    return [work for work in works if work == "sleep" or engines <= cores()]
