"""Which launches share a job of a batch system. A batch is a group job of Snakemake; its launches follow each other.

A launch starts processes of its own in any case, so it stays the unit of replication. The launches of one heat, which
repeat each other, are in different batches: they run side by side, and on different nodes where there are several.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from crossover.planning import plan, second_sweep
from crossover.planning.plan import SECOND_SWEEP, Config, Launch


@dataclass(frozen=True)
class Bounds:
    """The most launches of a batch, and the most minutes that it may request; a single launch may request more."""

    launches: int
    minutes: int


def bounds(resources: Mapping[str, Any], most_minutes: float = math.inf) -> Bounds | None:
    """The bounds that a profile gives as `resources` of launches; None if each launch has a job of its own.

    No job may request more than `most_minutes`.
    """
    launches = int(resources.get("batch_launches") or 1)
    minutes = min(int(resources.get("batch_minutes") or 1), most_minutes)
    return Bounds(launches, int(minutes)) if launches > 1 else None


def longest_minutes(config: Config, resources: Mapping[str, Any]) -> int:
    """The most minutes that any job of the run would request."""
    of_heat = second_sweep.of_heats(config)
    single = max((plan.runtime_minutes(of_heat(launch)) for launch in plan.launches(config)), default=1)
    most = bounds(resources)
    return max(single, most.minutes if most else 1)


def jobs(
    config: Config, most: Bounds | None, due: Iterable[Launch], options: Callable[[Launch], Any] = lambda _: None
) -> list[list[Launch]]:
    """The launches that are due, by the job that they share; a job each without bounds.

    Launches over several hosts with different `options`, such as a list of nodes, do not share a job.
    """
    if most is None:
        return [[launch] for launch in due]
    of_heat, turns = second_sweep.of_heats(config), second_sweep.turns(config)
    alike: dict[Any, list[Launch]] = defaultdict(list)
    for launch in due:
        hosts = plan.nodes(of_heat(launch))
        sweep, number = divmod(launch["launch"] - 1, SECOND_SWEEP)
        repetition = number // turns(launch["experiment"], launch["placement"])
        alike[sweep, hosts, repetition, options(launch) if hosts > 1 else None].append(launch)
    found: list[list[Launch]] = []
    for launches in alike.values():
        numbers = _numbers([plan.runtime_minutes(of_heat(each)) for each in launches], most)
        shared: dict[int, list[Launch]] = defaultdict(list)
        for number, launch in zip(numbers, launches, strict=True):
            shared[number].append(launch)
        found += shared.values()
    return found


def _numbers(minutes: list[int], most: Bounds) -> list[int]:
    """The number of the batch of each launch, from the minutes that it requests; batches are about equally long.

    >>> _numbers([10, 10, 10, 10, 10], Bounds(launches=4, minutes=60))
    [1, 1, 1, 2, 2]
    >>> _numbers([50, 20, 80, 5], Bounds(launches=4, minutes=60))
    [1, 2, 3, 4]
    """
    if not minutes:
        return []
    size = math.ceil(len(minutes) / math.ceil(len(minutes) / most.launches))
    found, number, members, used = [], 1, 0, 0
    for each in minutes:
        if members and (members == size or used + each > most.minutes):
            number, members, used = number + 1, 0, 0
        found.append(number)
        members, used = members + 1, used + each
    return found
