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


def key(launch: Launch) -> tuple[Any, ...]:
    """What identifies a launch, whatever the order in its mapping."""
    return launch["experiment"], launch["placement"], launch["launch"]


def names(
    config: Config,
    most: Bounds | None,
    kept: Iterable[Launch] = (),
    options: Callable[[Launch], Any] = lambda _: None,
) -> dict[tuple[Any, ...], str]:
    """The name of each launch's batch, by experiment, placement and number; without launches that are `kept`.

    Launches over several hosts with different `options`, such as a list of nodes, do not share a job. Launches that a
    second sweep may have are included, because running batches must keep their names and members.
    """
    if most is None:
        return {}
    of_heat, turns = second_sweep.of_heats(config), second_sweep.turns(config)
    held = {key(launch) for launch in kept}
    alike: dict[Any, list[Launch]] = defaultdict(list)
    for launch in plan.launches(config):
        name, hosts = launch["experiment"], plan.nodes(of_heat(launch))
        repetition = (launch["launch"] - 1) // turns(name, launch["placement"])
        refined = config["experiments"][name].get("refine_points")
        for number in (launch["launch"], launch["launch"] + SECOND_SWEEP) if refined else (launch["launch"],):
            own = launch | {"launch": number}
            alike[number > SECOND_SWEEP, hosts, repetition, options(own) if hosts > 1 else None].append(own)
    found: dict[tuple[Any, ...], str] = {}
    before = 0
    for launches in alike.values():
        due = [each for each in launches if key(each) not in held]
        numbers = _numbers([plan.runtime_minutes(of_heat(each)) for each in due], most)
        found |= {key(launch): f"b{before + number}" for launch, number in zip(due, numbers, strict=True)}
        before += max(numbers, default=0)
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
