"""The tasks of a flood, and the keys of curves that all task experiments share.

A task returns its only argument, so that each result shows that it ran. Tasks that take time sleep or spin. Sleeping
uses no core, so it measures the farm alone. Spinning is a fixed amount of work, which takes the task's duration on an
idle core. Client, scheduler and engines compete for the cores then, as in real use. With more engines than cores,
spinning tasks would not measure the farm. Engines import this module, so it must never import MPI.
"""

import json
import os
import time
import timeit
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import eq
from random import Random
from typing import Any

from crossover.design.arm import arms_of
from crossover.design.farming import Farming

TAIL_EXPONENT = 1.5
"""The exponent of the Pareto distribution of skewed durations: a finite mean, an infinite variance."""

DEFAULTS: dict[str, Any] = {"packer": "json", "hwm": 0}
"""The options of ipyparallel's farms that change their rates, with their default values."""


def echo(value: Any) -> Any:
    """Do nothing; `value` is a number or an array."""
    return value


def sleep(seconds: float) -> float:
    """Take time without using a core."""
    time.sleep(seconds)
    return seconds


def spin(turns: int) -> int:
    """Do a fixed amount of work; it takes longer if the core is shared."""
    left = turns
    while left > 0:
        left -= 1
    return turns


def turns_per_second(bursts: int = 2000, burst_turns: int = 20_000) -> float:
    """The speed of an idle core in turns of `spin` per second: that of the fastest of many short bursts.

    Other work only slows a burst down. All bursts together take about a second, because a virtual machine can lose a
    part of its core for some tenths of a second. With too low a speed, efficiencies could exceed 1.
    """
    return burst_turns / min(timeit.repeat(lambda: spin(burst_turns), timer=time.perf_counter, repeat=bursts, number=1))


def itself(value: Any) -> Any:
    """The value as it is."""
    return value


@dataclass(frozen=True)
class Workload:
    """The tasks of a flood, one per argument: the sum of their durations, and the bytes of all arguments.

    `same(result, argument)` checks a result, or `same(result, expected)` where results are others than the arguments.
    """

    task: Callable[[Any], Any]
    arguments: Sequence[Any]
    seconds: float = 0.0
    bytes: int = 0
    same: Callable[[Any, Any], bool] = eq
    expected: Sequence[Any] = ()
    renewed: Callable[[Sequence[Any]], Sequence[Any]] = itself
    """Gives the arguments of each call, before its time begins."""


def workload(tasks: int, work: str, durations: str, average_us: float, speed: float) -> Workload:
    """Tasks that `sleep` or `spin` for `average_us` microseconds on average, spread as `shares` describes.

    An idle core spins `speed` turns per second.
    """
    seconds = [share * average_us / 1e6 for share in shares(durations, tasks)]
    if work == "sleep":
        return Workload(sleep, seconds, sum(seconds))
    return Workload(spin, [max(1, round(each * speed)) for each in seconds], sum(seconds))


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


def measurable(works: Sequence[str], engines: int) -> list[str]:
    """The kinds of `works` that measure a farm with this many engines: spinning needs a core for each."""
    return [work for work in works if work == "sleep" or engines <= cores()]


def keys(settings: Farming, work: str, **own: Any) -> dict[str, Any]:
    """The keys of a curve: its own, and the conditions of the farms.

    An option of a single entrant is in the name of its arm (`leastload msgpack`), or else in `entrant_options`. Only
    spinning tasks compete for `cores`.
    """
    # Only rank 0 submits tasks.
    found = {"work": work} | own | {"senders": 1, "packer": DEFAULTS["packer"]}
    if work == "spin":
        found["cores"] = cores()
    options = {arm.runs: unnamed for arm in arms_of(settings) if (unnamed := _unnamed(arm.runs, settings))}
    return found | ({"entrant_options": json.dumps(options)} if options else {})


def _unnamed(name: str, settings: Farming) -> dict[str, Any]:
    """The options of an entrant that are neither the default nor shown by its name."""
    entrant = settings.entrants.get(name, {})
    found = {option: entrant.get(option, default) for option, default in DEFAULTS.items()}
    words = {option: str(value) if option == "packer" else f"{option} {value}" for option, value in found.items()}
    return {option: value for option, value in found.items() if value != DEFAULTS[option] and words[option] not in name}
