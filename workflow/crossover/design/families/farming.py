"""Settings and keys that the experiments on task farms share."""

import math
from typing import Any

from crossover.design import kinds
from crossover.design.arm import arms
from crossover.design.kinds import Default, Setting, Settings
from crossover.design.settings import Settings as OfLaunch

MOST_ENGINES = 10_000

PER_HEAT = {"quick": 4, "standard": 2, "paper": 2}
"""At quick one launch has all arms, since idle pools sleep. Later there are more arms, which would crowd a host."""

NAMES = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}


def rivals(arms: Default, ceilings: Default, per_heat: Default = PER_HEAT) -> Settings:
    """The arms, which are task farms; their reference and ceilings."""
    return {
        "arms": Setting(
            "The entrants that compete. Each is a farm with its own engines.", {**NAMES, "minItems": 2}, arms
        ),
        "reference": Setting("The arm that all others are divided by.", {"type": "string"}, "leastload"),
        "ceilings": Setting(
            "Entrants that do not compete, but show the best that the others could reach.",
            {**NAMES, "minItems": 0},
            ceilings,
        ),
        "rivals_per_heat": kinds.whole(
            "The most rivals that share a launch with the reference, the null arm and the ceilings. Further rivals get "
            "as many launches of their own. An entrant with `alone` shares with no other rival.",
            per_heat,
        ),
        "hosts": kinds.whole(
            "Hosts of a launch in placement `nodes`. Each farm's engines are spread evenly over them. A launch has at "
            "least two hosts, and no more than a farm has engines.",
            2,
            least=2,
        ),
    }


def hosts(settings: OfLaunch) -> int:
    """Hosts of a launch in placement `nodes`: at most one per engine of a farm, so that every host has an engine."""
    return min(int(settings["hosts"]), max(2, int(settings["engines"])))


def places(settings: OfLaunch) -> int:
    """Ranks on each host for the engines of one farm. So that all farms are spread alike, some may stay idle."""
    return math.ceil(int(settings["engines"]) / _nodes(settings))


def ranks(settings: OfLaunch) -> int:
    """Ranks of a launch: rank 0, and the places of all farms."""
    return 1 + places(settings) * _nodes(settings) * len(arms(settings))


def _nodes(settings: OfLaunch) -> int:
    return hosts(settings) if settings["placement"] == "nodes" else 1


LAUNCH: dict[str, Any] = {"farming": True, "hosts": hosts, "ranks": ranks}
"""What an experiment on task farms declares of its launches."""


def engines() -> Settings:
    """The number of engines, if it does not vary."""
    default = {"quick": 2, "standard": 2, "paper": 4}
    return {"engines": kinds.whole("Engines of each farm.", default, most=MOST_ENGINES)}


def engine_counts(about: str, default: Default) -> Setting:
    """Numbers of engines, each in separate launches."""
    crowd = (
        "A launch has that many processes for every arm, the null arm and the ceiling. If the machine cannot hold "
        "them, the launch is a hole."
    )
    return kinds.numbers(f"{about} {crowd}", default, most=MOST_ENGINES, one="engines")


def work() -> Setting:
    """How a task takes time."""
    return kinds.values_of(
        "work",
        "How a task takes time, one curve each. `sleep` uses no core. `spin` is a fixed amount of work, calibrated on "
        "an idle core; it is left out if engines outnumber cores.",
        ("sleep", "spin"),
        {"quick": ["sleep"], "standard": ["sleep", "spin"], "paper": ["sleep", "spin"]},
    )


def sampling(budget_seconds: Default, fewest_rounds: Default = kinds.FEW) -> Settings:
    """How often and how long is measured."""
    launches = {"smoke": 1, "quick": 3, "standard": 4, "paper": 6}
    width = {"quick": 0.05, "standard": 0.02, "paper": 0.01}
    return kinds.sampling(launches, 0.05, 100, width, budget_seconds, fewest_rounds)


LATE = {"quick": 0, "standard": 0, "paper": 5}
"""Points of a second sweep where the start of the farms takes most of a launch."""

SENDERS = {"senders": "any", "packer": ["json"], "entrant_options": "any"}
"""The keys that a farm's options can add."""

POOLS = ["concurrent.futures", "multiprocessing.Pool", "joblib"]
"""The farms for one host that everybody has."""
LASTING = ["leastload", "pure", "twisted", *POOLS, "leastload msgpack", "pure msgpack"]
"""The farms that share launches well, at higher tiers."""
SCHEDULERS = ["leastload hwm 1", "leastload hwm 2", "lru", "weighted", "plainrandom", "twobin"]
"""Further schedulers of ipyparallel."""
ALONE = ["mpi4py.futures", "dask"]
"""Farms that share a launch with no other rival."""

ORDER = (
    *("leastload", "pure", "concurrent.futures", "multiprocessing.Pool", "joblib", "dask", "twisted", "mpi4py.futures"),
    *("leastload msgpack", "leastload hwm 1", "leastload hwm 2", "lru", "weighted", "plainrandom", "twobin"),
    *("pure msgpack", "leastload over ssh", "pure over ssh"),
)
"""The most frequent farms in charts: the order of their colours. All others follow in the order of their folders."""
BOUND = "bare zmq"
"""The ceiling of all farms."""
