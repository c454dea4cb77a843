"""Which launches share a job of a batch system. A batch is a group job of Snakemake; its launches follow each other.

A launch starts processes of its own in any case, so it stays the unit of replication. The launches of one heat, which
repeat each other, are in different batches: they run side by side, and on different nodes where there are several.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from crossover.planning import plan, second_sweep
from crossover.planning.plan import SECOND_SWEEP, Config, Launch


@dataclass(frozen=True)
class Bounds:
    """The most launches of a batch, and the most minutes that it may request; a single launch may request more."""

    launches: int
    minutes: int


def bounds(resources: Mapping[str, Any]) -> Bounds | None:
    """The bounds that a profile gives as `resources` of launches; None if each launch has a job of its own."""
    launches = int(resources.get("batch_launches") or 1)
    return Bounds(launches, int(resources.get("batch_minutes") or 1)) if launches > 1 else None


def key(launch: Launch) -> tuple[Any, ...]:
    """What identifies a launch, whatever the order in its mapping."""
    return launch["experiment"], launch["placement"], launch["launch"]


def names(config: Config, most: Bounds | None, kept: Iterable[Launch] = ()) -> dict[tuple[Any, ...], str]:
    """The name of each launch's batch, by experiment, placement and number; without launches that are `kept`.

    The names are short, because Snakemake passes all of them on the command line of every job.

    Also of every launch that a second sweep may have, because running batches must keep their names and members.
    """
    if most is None:
        return {}
    of_heat, turns = second_sweep.of_heats(config), second_sweep.turns(config)
    held = {key(launch) for launch in kept}
    alike: dict[tuple[int, int, int], list[Launch]] = defaultdict(list)
    for launch in plan.launches(config):
        name, hosts = launch["experiment"], plan.nodes(of_heat(launch))
        repetition = (launch["launch"] - 1) // turns(name, launch["placement"])
        alike[1, hosts, repetition].append(launch)
        if config["experiments"][name].get("refine_points"):
            alike[2, hosts, repetition].append(launch | {"launch": launch["launch"] + SECOND_SWEEP})
    found = {}
    for (sweep, hosts, repetition), launches in alike.items():
        due = [each for each in launches if key(each) not in held]
        minutes = [plan.runtime_minutes(of_heat(each)) for each in due]
        for launch, number in zip(due, _numbers(minutes, most), strict=True):
            found[key(launch)] = f"s{sweep}h{hosts}r{repetition}b{number}"
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
    size = ceil(len(minutes) / ceil(len(minutes) / most.launches))
    found, number, members, used = [], 1, 0, 0
    for each in minutes:
        if members and (members == size or used + each > most.minutes):
            number, members, used = number + 1, 0, 0
        found.append(number)
        members, used = members + 1, used + each
    return found
