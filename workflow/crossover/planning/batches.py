"""Which launches share a job of a batch system. A batch is a group job of Snakemake; its launches follow each other.

A launch starts processes of its own in any case, so it stays the unit of replication. Launches that repeat each other
are in different batches: they run side by side, and on different nodes where there are several.
"""

import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from crossover.design.launch import Launch
from crossover.planning.receipt import Files, Receipt


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


@dataclass(frozen=True)
class Site:
    """Where launches run; by default on this machine."""

    resources: Mapping[str, Any] = field(default_factory=dict)
    """Those that a profile gives to launches."""
    most_minutes: float = math.inf
    """The most that a job may request."""
    options: Callable[[Launch], Any] = lambda _: None
    """Launches over several hosts with different ones do not share a job."""
    nodes: int | None = None
    """The most nodes in use at a time on a cluster; None on this machine."""
    at_once: int = sys.maxsize
    """The most jobs at a time."""
    is_known: bool = True
    """Whether the cluster has said how many nodes there are."""


HERE = Site()


@dataclass(frozen=True)
class Job:
    """The launches of a job, by their receipts, in the order in which they follow each other."""

    launches: Mapping[str, Launch] = field(default_factory=dict)
    minutes: Sequence[float] = ()
    """What each would request, besides the start of the job."""
    shares: Sequence[int] = ()
    """What each requests; Slurm gets their sum."""
    name: str | None = None
    """That of a job of several launches."""

    def before(self, path: str) -> list[str]:
        """The receipt of the launch before this one, if any."""
        receipts = [*self.launches]
        return receipts[receipts.index(path) - 1 :][:1] if path in receipts[1:] else []

    def share(self, path: str) -> int:
        """What the launch with this receipt requests."""
        return dict(zip(self.launches, self.shares, strict=True)).get(path, 1)


def split(site: Site, due: Mapping[str, Launch], held: Mapping[str, Receipt]) -> list[Job]:
    """The jobs of launches that are due; they, and the receipts `held`, by their paths.

    Launches request what earlier ones took. One that an earlier run has begun, without leaving a receipt, has its own
    job: it would end the job of others again.
    """
    own, receipts = times(site.resources, held.values()), {launch: path for path, launch in due.items()}
    failed = {each for path, each in due.items() if path not in held and Files(Path(path)).log.exists()}
    others = [launch for launch in receipts if launch not in failed]
    shared = jobs(bounds(site.resources, site.most_minutes), others, site.options, own)
    found = []
    for number, launches in enumerate([*shared, *([launch] for launch in receipts if launch in failed)], 1):
        minutes = [own.minutes(launch) for launch in launches]
        name = f"launches-{number}" if len(launches) > 1 else None
        members = {receipts[each]: each for each in launches}
        found.append(Job(members, minutes, shares(minutes, site.most_minutes), name))
    return found
