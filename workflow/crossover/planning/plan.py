"""From a complete configuration to experiments, launches and resources.

This module has the launches of the first sweep, `second_sweep` those of the second. It reads no clock, and no files
except those of task farms. Every rank and every Snakemake job loads it, so it imports nothing slow.
"""

import math
from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import product
from operator import or_
from typing import Any

from crossover import experiments
from crossover.design.arm import arms
from crossover.design.settings import Settings
from crossover.farms import authenticates, crosses_hosts
from crossover.planning.curves import across_hosts

Config = dict[str, Any]
LaunchName = dict[str, Any]
"""The identity of a launch: `experiment`, `placement`, and its number `launch`."""


OF_ALL_LAUNCHES = ("launches", "placements", "rivals_per_heat", "refine_points", "refine_metric")
"""Settings that determine the list of launches, and so do not belong to a single launch; as those of `one_each` do."""

SECOND_SWEEP = 10_000
"""Launch SECOND_SWEEP + n of the second sweep has the heat of launch n. Its number stays the same if the first sweep
gets more launches."""


def in_placement(experiment: str, settings: Settings, placement: str) -> Settings:
    """An experiment's settings, restricted to `placement`.

    Across hosts, ipc curves use tcp instead, and arms and ceilings that need a single host are left out.
    """
    if placement != "nodes":
        return {key: value for key, value in settings.items() if key != "hosts"}
    own, within_a_host = dict(settings), experiments.of(experiment).within_a_host
    if "curves" in own:
        own["curves"] = across_hosts(own["curves"])
    entrants = own.get("entrants", {})
    for key in ("arms", "ceilings"):
        own[key] = [
            name
            for name in own.get(key, [])
            if name not in within_a_host and (name not in entrants or crosses_hosts(entrants[name]))
        ]
    return own


def heats(experiment: str, settings: Settings) -> list[Settings]:
    """The heats of an experiment, each as the settings that it replaces.

    A heat has the reference and at most `rivals_per_heat` rivals. An entrant that is `alone`, because it disturbs the
    others even while it is idle, has a heat of its own. Each heat has one value of every setting in `one_each`.

    >>> heats("zmq_latency", {"arms": ["a", "b", "c"], "reference": "b", "rivals_per_heat": 1})
    [{'arms': ['b', 'a']}, {'arms': ['b', 'c']}]
    """
    reference, entrants = settings["reference"], settings.get("entrants", {})
    rivals = [name for name in settings["arms"] if name != reference]
    alone = [name for name in rivals if entrants.get(name, {}).get("alone")]
    social = [name for name in rivals if name not in alone]
    size = settings.get("rivals_per_heat", max(1, len(social)))
    shared = [social[start : start + size] for start in range(0, len(social), size)]
    groups = [{"arms": [reference, *group]} for group in [*shared, *([name] for name in alone)]]
    one_each = experiments.of(experiment).one_each
    choices = [[{one: value} for value in settings[many]] for many, one in one_each.items() if settings.get(many)]
    return [reduce(or_, chosen, group) for *chosen, group in product(*choices, groups)]


def of_launch(experiment: str, settings: Settings, placement: str, launch: int) -> Settings:
    """The settings of one launch, with its placement and its heat, without settings that only other launches need."""
    kind, settings = experiments.of(experiment), in_placement(experiment, settings, placement)
    own = {key: value for key, value in settings.items() if key not in (*OF_ALL_LAUNCHES, *kind.one_each)}
    if isinstance(own["budget_seconds"], Mapping):
        own["budget_seconds"] = own["budget_seconds"][placement]
    turns = heats(experiment, settings)
    own |= turns[(launch - 1) % SECOND_SWEEP % len(turns)] | {"placement": placement}
    if "entrants" in own:
        own["entrants"] = {arm.runs: own["entrants"][arm.runs] for arm in arms(own)}
    if farms := kind.farms_of(own):
        own["entrants"] = farms
    return own


def nodes(experiment: str, settings: Settings) -> int:
    """Hosts of one launch."""
    return experiments.of(experiment).hosts(settings) if settings["placement"] == "nodes" else 1


def ranks(experiment: str, settings: Settings) -> int:
    """Ranks of one launch."""
    return 1 if settings["placement"] == "process" else experiments.of(experiment).ranks(settings)


def tasks(experiment: str, settings: Settings) -> int:
    """Tasks to request from a batch system: one per rank, but at least two, because Slurm's plugin refuses one."""
    return max(2, ranks(experiment, settings))


START_SECONDS = 1
START_SECONDS_PER_RANK = 1.2
"""Time of a launch besides its budget, for starting and stopping processes. Measured with several ranks per core."""


def expected_seconds(experiment: str, settings: Settings) -> float:
    """The expected time of a launch, with the start of its processes."""
    return float(START_SECONDS + START_SECONDS_PER_RANK * ranks(experiment, settings) + settings["budget_seconds"])


def limit_seconds(experiment: str, settings: Settings) -> int:
    """The time after which the supervisor ends a launch: an allowance for its start, plus four times the budget."""
    return math.ceil(90 + 3 * ranks(experiment, settings) + 4 * float(settings["budget_seconds"]))


# ---- functions for Snakemake


def settings_of(config: Config, experiment: str) -> Settings:
    """An experiment's settings; for task farms, with the entrants that all experiments share."""
    settings: Settings = config["experiments"][experiment]
    return settings | {"entrants": config["entrants"]} if experiments.of(experiment).farming else settings


def libraries(config: Config, experiment: str) -> list[str]:
    """The built libraries that an experiment's launches use."""
    settings, built = config["experiments"][experiment], experiments.of(experiment).built
    names = {name for arm in [*settings["arms"], *settings.get("ceilings", [])] for name in built.get(arm, [])}
    return [f"{config['results']}/native/{name}.so" for name in sorted(names)]


def launches(config: Config, experiment: str | None = None) -> Iterator[LaunchName]:
    """Every launch of the first sweep, of the run or of one experiment.

    The configuration's `hosts` is the most hosts that a launch can have: 1 on a single machine, on Slurm at most as
    many as it grants one job. Launches with `unsafe` entrants are left out; the others keep their numbers.
    """
    for name in config["experiments"]:
        if experiment in (None, name):
            settings = settings_of(config, name)
            for placement in settings["placements"]:
                count = len(heats(name, in_placement(name, settings, placement)))
                # The launches of a heat have the same settings.
                measured = [
                    possible(config, name, of_launch(name, settings, placement, heat)) for heat in range(1, count + 1)
                ]
                for number in range(1, settings["launches"] * count + 1):
                    if measured[(number - 1) % count]:
                        yield {"experiment": name, "placement": placement, "launch": number}


def possible(config: Config, experiment: str, settings: Settings) -> bool:
    """Whether the configuration has the hosts of a launch, and allows all its entrants."""
    return nodes(experiment, settings) <= config.get("hosts", 1) and not unsafe(config, settings)


UNSAFE = (
    "its farm does not authenticate, so other users of the hosts could run code as you; to measure it all the same, "
    "set `unauthenticated_farms: true` in config/config.yaml"
)
"""The reason for the absence of an `unsafe` entrant, and the remedy."""


def unsafe(config: Config, settings: Settings) -> list[str]:
    """The entrants in these settings whose farm does not authenticate, unless the configuration allows such farms."""
    if config.get("unauthenticated_farms"):
        return []
    return [name for name, entrant in settings.get("entrants", {}).items() if not authenticates(entrant)]


def withheld(config: Config) -> dict[str, list[str]]:
    """The `unsafe` arms and ceilings, each with its experiments. A partial run reports on what exists: none."""
    found: dict[str, list[str]] = {}
    for name in () if config.get("partial") else config["experiments"]:
        settings = settings_of(config, name)
        named = [*settings["arms"], *settings.get("ceilings", [])]
        for arm in unsafe(config, settings):
            if arm in named:
                found.setdefault(arm, []).append(name)
    return found


def waiting(config: Config) -> dict[str, dict[str, int]]:
    """Placements that need more hosts than the configuration has: {experiment: {placement: hosts needed}}."""
    found: dict[str, dict[str, int]] = {}
    for name in config["experiments"]:
        settings = settings_of(config, name)
        for placement in settings["placements"]:
            wanted = [nodes(name, settings | heat | {"placement": placement}) for heat in heats(name, settings)]
            if max(wanted) > config.get("hosts", 1):
                found.setdefault(name, {})[placement] = max(wanted)
    return found


def most_hosts(config: Config) -> int:
    """The most hosts that any launch needs; at most as many as the configuration has."""
    needed = [count for placements in waiting(config | {"hosts": 0}).values() for count in placements.values()]
    return min(max(needed, default=1), int(config.get("hosts", 1)))
