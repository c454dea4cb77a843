"""Settings and keys that the experiments on task farms share."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from crossover.design.arm import Arm, arms_of
from crossover.design.settings import REFERENCE, Arms, Count, Curves, Ge, Le, Names, Rounds, Settings, Some

MOST_ENGINES = 10_000

Engines = Annotated[int, Ge(1), Le(MOST_ENGINES)]
Counts = tuple[Engines, ...]

CROWD = (
    "A launch has that many processes for every arm, the null arm and the ceiling. If the machine cannot hold "
    "them, the launch is a hole."
)

Work = Annotated[
    Some,
    Curves.valued("work", ("sleep", "spin")),
    "How a task takes time, one curve each. `sleep` uses no core. `spin` is a fixed amount of work, calibrated on "
    "an idle core; it is left out if engines outnumber cores.",
]


Preludes = Annotated[
    Some,
    Curves.valued("prelude", ("pause", "none")),
    "What precedes a flood, one curve each. `pause`: the workers have fallen asleep, as in a program that calls its "
    "pool now and then. `none`: floods follow each other back to back, as in the loop of a benchmark.",
]

PAUSED_SHARE = 0.1
"""The share of a block's seconds that suffices with a pause before each flood, because the pauses take time."""

FARMS_SECONDS = 3.5
"""The time that the farms of a launch take to start and to end, besides their ranks. Measured on two cores."""


@dataclass(frozen=True, kw_only=True)
class Farming(Settings):
    """Those of every experiment whose arms are task farms, by their names in `entrants`."""

    arms: Annotated[Arms, "The task farms that compete. Each has its own engines."]
    reference: Annotated[
        str,
        f"{REFERENCE} Across hosts, the first arm that reaches them replaces one that needs a single host.",
    ] = "leastload"
    ceilings: Annotated[Names, "Task farms that do not compete, but show the best that the others could reach."] = ()
    rivals_per_launch: Annotated[
        Count,
        "The most rivals that share a launch with the reference, the null arm and the ceilings. Further rivals get "
        "as many launches of their own. A farm with `alone` shares with no other rival.",
    ] = 4
    hosts: Annotated[
        int,
        Ge(2),
        "Hosts of a launch in placement `nodes`. Each farm's engines are spread evenly over them. A launch has at "
        "least two hosts, and no more than a farm has engines.",
    ] = 2

    @property
    def expected_seconds(self) -> float:
        """The expected time of the launch, with the start and the end of its farms."""
        return super().expected_seconds + FARMS_SECONDS

    def engine_count(self) -> int:
        """The engines of each farm of a launch."""
        raise NotImplementedError

    def groups(self) -> list[Names]:
        """The rivals by launch. A farm that disturbs the others even while it is idle has a launch of its own."""
        alone = [name for name in self.rivals if self.entrants.get(name, {}).get("alone")]
        social = [name for name in self.rivals if name not in alone]
        size = self.rivals_per_launch
        shared = [tuple(social[start : start + size]) for start in range(0, len(social), size)]
        return [*shared, *((name,) for name in alone)]

    def hosts_across(self) -> int:
        """Hosts of a launch in placement `nodes`: at most one per engine of a farm, so that every host has one."""
        return min(self.hosts, max(2, self.engine_count()))

    def places(self) -> int:
        """Ranks on each host for the engines of one farm. So that all farms are spread alike, some may stay idle."""
        return math.ceil(self.engine_count() / self.nodes)

    def arms_of_ranks(self) -> list[Arm]:
        """The arms of a launch whose engines are ranks."""
        return [arm for arm in arms_of(self) if not self.entrants.get(arm.runs, {}).get("children")]

    def ranks_between(self) -> int:
        """Ranks of a launch: rank 0, and the places of all farms that have some."""
        return 1 + self.places() * self.nodes * len(self.arms_of_ranks())


@dataclass(frozen=True, kw_only=True)
class FixedEngines(Farming):
    """With as many engines in every launch."""

    engines: Annotated[
        Engines,
        "Engines of each farm. At tier `quick`, without this key, as many as a host has cores, from 2 to 8.",
    ] = 2

    def engine_count(self) -> int:
        """The engines of each farm."""
        return self.engines


@dataclass(frozen=True, kw_only=True)
class EngineCounts(Farming):
    """With numbers of engines, each in separate launches."""

    engine_counts: Counts

    def engine_count(self) -> int:
        """The engines of each farm of a launch."""
        return self.engine_counts[0]


@dataclass(frozen=True)
class Look:
    """What a first look at a user's function tells."""

    task_seconds: float
    """The median of the calls after the first."""
    item_bytes: int | None
    """The length of an item when pickled; None if it cannot be."""
    result_bytes: int | None
    """The same of a result."""
    sending_seconds: float
    """To pickle and unpickle an item and a result, with what tasks share."""
    program_seconds: float
    """A process that imports the file and runs one item; 0 where tasks share an argument."""
    cores: float
    """The time on all cores / the time, of the calls: more than 1 with threads inside libraries."""
    shares: bool
    """Whether tasks share an argument."""
    first_seconds: float = 0.0
    """An item's first call, if the function remembers its results, so that later ones are far shorter; otherwise 0."""
    import_seconds: float = 0.0
    """The import of the file."""


def of_programs(counts: Sequence[int]) -> list[int]:
    """The numbers of items of whole programs among those of calls: the largest, where a pool can pay for its start.

    >>> of_programs([1, 8]), of_programs([1, 8, 64])
    ([8], [8, 64])
    """
    return [*counts[-2 if len(counts) > 2 else -1 :]]


# At quick one launch has all arms. Later there are more, which would crowd a host.
QUICK: dict[str, Any] = {
    "launches": 4,
    # The noise is that of single blocks, not of launches, so these are short.
    "fewest_rounds": 3,
    "block_seconds": 0.02,
    "rounds": Rounds(at_most=100),
    "target_width": 0.05,
    # It costs little, so that there are more rounds, and no controller for the null arm (docs/decisions/budget.md).
    "reference": "concurrent.futures",
}
STANDARD: dict[str, Any] = {
    "launches": 4,
    "block_seconds": 0.05,
    "reference": "leastload",
    "rivals_per_launch": 2,
    "fewest_rounds": 1,
    "target_width": 0.02,
}
PAPER: dict[str, Any] = {"launches": 6, "target_width": 0.01}
"""How often and how long is measured at each tier, as far as it differs from the tier below."""

SENDERS = {"senders": "any", "packer": ["json"], "entrant_options": "any"}
"""The keys that a farm's options can add."""

POOLS = ("concurrent.futures", "multiprocessing.Pool", "joblib")
"""The farms for one host that everybody has."""
LASTING = ("leastload", "pure", "twisted", *POOLS, "leastload msgpack", "pure msgpack")
"""The farms that share launches well, at higher tiers."""
THREADS = ("threads", "joblib threads", "interpreters")
"""Farms within the client's process, whose answer depends on the interpreter's lock."""
SCHEDULERS = ("leastload hwm 1", "leastload hwm 2", "lru", "weighted", "plainrandom", "twobin")
"""Further schedulers of ipyparallel."""
ALONE = ("mpi4py.futures", "dask")
"""Farms that share a launch with no other rival."""

ORDER = (
    *("leastload", "pure", "concurrent.futures", "multiprocessing.Pool", "joblib", "dask"),
    *("multiprocessing.Pool map", "mpi4py.futures", "twisted", "ipyparallel map", "concurrent.futures chunk 8"),
    *("leastload msgpack", "leastload hwm 1", "leastload hwm 2", "lru", "weighted", "plainrandom", "twobin"),
    *("pure msgpack", "leastload over ssh", "pure over ssh"),
)
"""The most frequent farms in charts: the order of their colours. All others follow in the order of their folders."""
BOUND = "bare zmq"
"""The ceiling of all farms."""
