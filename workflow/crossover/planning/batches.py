"""Which launches share a job of a batch system. A batch is a group job of Snakemake; its launches follow each other.

A launch starts processes of its own in any case, so it stays the unit of replication. The launches of one heat, which
repeat each other, are in different batches: they run side by side, and on different nodes where there are several.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

from crossover.design.settings import Settings
from crossover.planning import plan, second_sweep
from crossover.planning.plan import SECOND_SWEEP, Config, LaunchName
from crossover.planning.receipt import Receipt


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


FACTOR = 4.0
"""How many times its expected time a launch requests where the profile does not say."""

START_MINUTES = 2
"""What a job requests for its own start and end."""

LEAST_MINUTES = 60
"""A job may always request as much, if Slurm grants it, because launches can take longer than expected."""


@dataclass(frozen=True)
class Times:
    """The times that launches request: `factor` times what is expected, or what the longest of earlier runs took."""

    factor: float = FACTOR
    recorded: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """The seconds of the longest measured launch of each experiment and placement."""

    def minutes(self, launch: LaunchName, settings: Settings) -> float:
        """The minutes that a launch requests, besides the start of its job."""
        recorded = self.recorded.get((launch["experiment"], launch["placement"]), 0.0)
        return self.factor * max(recorded, plan.expected_seconds(launch["experiment"], settings)) / 60


def times(resources: Mapping[str, Any], held: Iterable[Receipt] = ()) -> Times:
    """The times by the factor that a profile gives as a resource of launches, and by these receipts."""
    recorded: dict[tuple[str, str], float] = {}
    for each in held:
        if each.measured:
            kind = each.launch["experiment"], each.launch["placement"]
            recorded[kind] = max(recorded.get(kind, 0.0), each.wall_seconds)
    return Times(float(resources.get("time_factor") or FACTOR), recorded)


def shares(minutes: Sequence[float], most: float = math.inf) -> list[int]:
    """The whole minutes that each launch of a job requests; Slurm gets their sum, at most `most`.

    >>> shares([1.25, 1.25, 1.25]), shares([1.25]), shares([30, 30], most=45)
    ([4, 1, 1], [4], [32, 13])
    """
    ends = [min(START_MINUTES + math.ceil(end), most) for end in accumulate(minutes)]
    return [int(end - before) for before, end in pairwise([0, *ends])]


def longest_minutes(config: Config, resources: Mapping[str, Any]) -> int:
    """The most minutes that any job of the run would request, as far as that is known before earlier runs are read."""
    of_heat, own, most = second_sweep.of_heats(config), times(resources), bounds(resources)
    single = max((own.minutes(each, of_heat(each)) for each in plan.launches(config)), default=1)
    return max(math.ceil(single) + START_MINUTES, most.minutes if most else 1, LEAST_MINUTES)


def jobs(
    config: Config,
    most: Bounds | None,
    due: Iterable[LaunchName],
    options: Callable[[LaunchName], Any] = lambda _: None,
    own: Times | None = None,
) -> list[list[LaunchName]]:
    """The launches that are due, by the job that they share; a job each without bounds. `own` are their times.

    Launches over several hosts with different `options`, such as a list of nodes, do not share a job.
    """
    if most is None:
        return [[launch] for launch in due]
    of_heat, turns = second_sweep.of_heats(config), second_sweep.turns(config)
    alike: dict[Any, list[LaunchName]] = defaultdict(list)
    for launch in due:
        hosts = plan.nodes(launch["experiment"], of_heat(launch))
        sweep, number = divmod(launch["launch"] - 1, SECOND_SWEEP)
        repetition = number // turns(launch["experiment"], launch["placement"])
        alike[sweep, hosts, repetition, options(launch) if hosts > 1 else None].append(launch)
    found: list[list[LaunchName]] = []
    requested = own or Times()
    for launches in alike.values():
        numbers = _numbers([requested.minutes(each, of_heat(each)) for each in launches], most)
        shared: dict[int, list[LaunchName]] = defaultdict(list)
        for number, launch in zip(numbers, launches, strict=True):
            shared[number].append(launch)
        found += shared.values()
    return found


def _numbers(minutes: Sequence[float], most: Bounds) -> list[int]:
    """The number of the batch of each launch, from the minutes that it requests; batches are about equally long.

    >>> _numbers([10, 10, 10, 10, 10], Bounds(launches=4, minutes=60))
    [1, 1, 1, 2, 2]
    >>> _numbers([50, 20, 80, 5], Bounds(launches=4, minutes=60))
    [1, 2, 3, 4]
    """
    if not minutes:
        return []
    size = math.ceil(len(minutes) / math.ceil(len(minutes) / most.launches))
    found, number, members, used = [], 1, 0, float(START_MINUTES)
    for each in minutes:
        if members and (members == size or used + each > most.minutes):
            number, members, used = number + 1, 0, float(START_MINUTES)
        found.append(number)
        members, used = members + 1, used + each
    return found
