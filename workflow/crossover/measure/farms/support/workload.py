"""Tasks that take time: how they do it, how long each lasts, and what an engine is given to do for so long.

A task sleeps or spins. Sleeping takes no core, so it measures the farm alone. Spinning is a fixed amount of work, as
many turns as take the duration on a core that is left alone: client, scheduler and engines then compete for the cores,
as they would in earnest. With more engines than cores that would say nothing about the farm.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from crossover.measure.farms.support.tasks import sleep, spin

TAIL_EXPONENT = 1.5
"""Of the Pareto distribution of skewed durations: a finite mean, an infinite variance."""


@dataclass(frozen=True)
class Workload:
    """Tasks for a farm, one per argument, and the seconds that they last in all."""

    task: Callable[[Any], Any]
    arguments: Sequence[Any]
    seconds: float


def workload(work: str, durations: str, tasks: int, average_us: float, turns_per_second: float) -> Workload:
    """So many `tasks` that `work` by `sleep` or `spin`, for `average_us` microseconds on average; see `shares`."""
    seconds = [share * average_us / 1e6 for share in shares(durations, tasks)]
    if work == "sleep":
        return Workload(sleep, seconds, sum(seconds))
    return Workload(spin, [max(1, round(each * turns_per_second)) for each in seconds], sum(seconds))


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


def cores() -> int:
    """Cores that this process may use, and with it the engines of its launch."""
    return len(os.sched_getaffinity(0))


def cores_of(work: str) -> dict[str, int]:
    """The key of a curve whose tasks `work` so: the cores that spinning tasks compete for. Sleeping ones take none."""
    return {"cores": cores()} if work == "spin" else {}


def telling(works: Sequence[str], engines: int) -> list[str]:
    """Those of `works` that say something about a farm of so many engines."""
    return [work for work in works if work == "sleep" or engines <= cores()]
