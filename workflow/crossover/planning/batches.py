"""Which launches share a job of a batch system. A batch is a group job of Snakemake; its launches follow each other.

A launch starts processes of its own in any case, so it stays the unit of replication. Launches that repeat each other
are in different batches: they run side by side, and on different nodes where there are several.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

from crossover.design.launch import Launch
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


@dataclass(frozen=True)
class Times:
    """The times that launches request: `factor` times what is expected, or what the longest of earlier runs took."""

    factor: float = FACTOR
    recorded: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """The seconds of the longest measured launch of each experiment and placement."""

    def minutes(self, launch: Launch) -> float:
        """The minutes that a launch requests, besides the start of its job."""
        recorded = self.recorded.get((launch.experiment, launch.placement), 0.0)
        return self.factor * max(recorded, launch.settings.expected_seconds) / 60


def times(resources: Mapping[str, Any], held: Iterable[Receipt] = ()) -> Times:
    """The times by the factor that a profile gives as a resource of launches, and by these receipts."""
    recorded: dict[tuple[str, str], float] = {}
    for each in held:
        if each.measured:
            kind = each.name[:2]
            recorded[kind] = max(recorded.get(kind, 0.0), each.wall_seconds)
    return Times(float(resources.get("time_factor") or FACTOR), recorded)


def shares(minutes: Sequence[float], most: float = math.inf) -> list[int]:
    """The whole minutes that each launch of a job requests; Slurm gets their sum, at most `most`.

    >>> shares([1.25, 1.25, 1.25]), shares([1.25]), shares([30, 30], most=45)
    ([4, 1, 1], [4], [32, 13])
    """
    ends = [min(START_MINUTES + math.ceil(end), most) for end in accumulate(minutes)]
    return [int(end - before) for before, end in pairwise([0, *ends])]


def jobs(
    most: Bounds | None,
    due: Iterable[Launch],
    options: Callable[[Launch], Any] = lambda _: None,
    own: Times | None = None,
) -> list[list[Launch]]:
    """The launches that are due, by the job that they share; a job each without bounds. `own` are their times.

    Launches over several hosts with different `options`, such as a list of nodes, do not share a job.
    """
    if most is None:
        return [[launch] for launch in due]
    alike: dict[Any, list[Launch]] = defaultdict(list)
    for launch in due:
        hosts = launch.settings.nodes
        alike[hosts, launch.repetition, options(launch) if hosts > 1 else None].append(launch)
    found: list[list[Launch]] = []
    requested = own or Times()
    for launches in alike.values():
        numbers = _numbers([requested.minutes(each) for each in launches], most)
        shared: dict[int, list[Launch]] = defaultdict(list)
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


@dataclass
class Jobs:
    """The jobs by the `resources` that a profile gives to launches.

    No job requests more than `most_minutes`; launches over several hosts with different `options` do not share one.
    """

    resources: Mapping[str, Any]
    most_minutes: float = math.inf
    options: Callable[[Launch], Any] = lambda _: None
    _job: dict[str, tuple[str | None, list[str]]] = field(default_factory=dict)
    """The group of each launch, and the launch before it in the job, by receipts."""
    _minutes: dict[str, int] = field(default_factory=dict)
    _times: Times = field(default_factory=Times)

    def learn(self, held: Iterable[Receipt]) -> None:
        """Let launches request what earlier ones took."""
        self._times = times(self.resources, held)

    def split(self, launches: Sequence[Launch], failed: Sequence[Launch] = ()) -> list[list[Launch]]:
        """The launches by job. One that `failed` before has its own: it would end the job of others again."""
        others = [launch for launch in launches if launch not in failed] if failed else launches
        most = bounds(self.resources, self.most_minutes)
        shared = jobs(most, others, self.options, self._times)
        return [*shared, *([launch] for launch in failed)]

    def add(self, launches: Sequence[Launch], receipts: Sequence[str]) -> None:
        """Make a job of these launches, which have these receipts."""
        name = f"launches-{len(self._job) + 1}" if len(receipts) > 1 else None
        for place, path in enumerate(receipts):
            self._job[path] = name, list(receipts[max(0, place - 1) : place])
        self._minutes |= zip(receipts, shares(self.times(launches), self.most_minutes), strict=True)

    def times(self, launches: Iterable[Launch]) -> list[float]:
        """The minutes that each launch would request, besides the start of its job."""
        return [self._times.minutes(launch) for launch in launches]

    def group(self, receipt: str) -> str | None:
        """The name of a job of several launches."""
        return self._job.get(receipt, (None, []))[0]

    def before(self, receipt: str) -> list[str]:
        """The receipt of the launch before this one in its job, if any."""
        return self._job.get(receipt, (None, []))[1]

    def minutes(self, receipts: Iterable[str]) -> int:
        """The minutes that launches request, with the start of their job if they are all of it."""
        return sum(self._minutes.get(path, 1) for path in receipts)
