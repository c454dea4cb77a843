"""From a complete configuration to launches.

This module reads no clock and no files. Every Snakemake job loads it, so it imports nothing slow.
"""

from collections.abc import Iterator
from dataclasses import replace

from crossover import experiments
from crossover.design.config import Config
from crossover.design.launch import MOST_LAUNCHES, Launch
from crossover.design.settings import Settings
from crossover.farms import authenticates, crosses_hosts


def in_placement(settings: Settings, placement: str) -> Settings:
    """An experiment's settings in one placement: across hosts, without task farms that need a single host.

    If the reference is one of these, the first of the others takes its place.
    """
    own = settings.within(placement)
    if placement != "nodes":
        return own
    far = {name for name, entrant in own.entrants.items() if crosses_hosts(entrant)}
    here = own.entrants.keys() - far
    arms = tuple(name for name in own.arms if name not in here)
    return replace(
        own,
        arms=arms,
        reference=own.reference if own.reference in arms else (*arms, "")[0],
        ceilings=tuple(name for name in own.ceilings if name not in here),
    )


def fitted(config: Config) -> Config:
    """The configuration with launches of at most its `hosts`, where an experiment takes as many as there are."""
    return replace(config, experiments={name: own.fitted(config.hosts) for name, own in config.experiments.items()})


def turns(config: Config, experiment: str, placement: str) -> list[Settings]:
    """The settings that launches of an experiment have in turn in a placement."""
    return [own.of_launch() for own in in_placement(config.experiments[experiment], placement).turns()]


def launch(config: Config, experiment: str, placement: str, number: int) -> Launch:
    """One launch."""
    every = turns(config, experiment, placement)
    before, turn = divmod(number - 1, len(every))
    return Launch(experiment, placement, number, every[turn], before)


def libraries(config: Config, experiment: str) -> list[str]:
    """The built libraries that an experiment's launches use."""
    settings, built = config.experiments[experiment], experiments.of(experiment).built
    names = {name for arm in (*settings.arms, *settings.ceilings) for name in built.get(arm, [])}
    return [f"{config.results}/native/{name}.so" for name in sorted(names)]


def launches(config: Config, experiment: str | None = None) -> Iterator[Launch]:
    """The launches of the run or of one experiment.

    The configuration's `hosts` is the most hosts that a launch can have: 1 on a single machine, on Slurm at most as
    many as it grants one job. Launches with `unsafe` entrants are left out; the others keep their numbers.
    """
    for name in config.experiments:
        if experiment in (None, name):
            settings = config.experiments[name]
            for placement in settings.placements:
                every = turns(config, name, placement)
                measured = [possible(config, own) for own in every]
                for index in range(settings.launches * len(every)):
                    before, turn = divmod(index, len(every))
                    if measured[turn]:
                        yield Launch(name, placement, index + 1, every[turn], before)


def too_many(settings: Settings) -> Iterator[str]:
    """The fault of an experiment whose launches would have numbers above MOST_LAUNCHES."""
    most = MOST_LAUNCHES // len(settings.turns())
    if settings.launches > most:
        yield (
            f"launches: {settings.launches} is too many; this experiment can have {most} of each group, because launch "
            f"numbers end at {MOST_LAUNCHES}; set {most} or less"
        )


def possible(config: Config, settings: Settings) -> bool:
    """Whether the configuration has the hosts of a launch, and allows all its entrants."""
    return settings.nodes <= config.hosts and not unsafe(config, settings)


UNSAFE = (
    "its farm does not authenticate, so other users of the hosts could run code as you; to measure it all the same, "
    "set `unauthenticated_farms: true` in config/config.yaml"
)
"""The reason for the absence of an `unsafe` entrant, and the remedy."""


def unsafe(config: Config, settings: Settings) -> list[str]:
    """The entrants in these settings whose farm does not authenticate, unless the configuration allows such farms."""
    if config.unauthenticated_farms:
        return []
    return [name for name, entrant in settings.entrants.items() if not authenticates(entrant)]


def withheld(config: Config) -> dict[str, list[str]]:
    """The `unsafe` arms and ceilings, each with its experiments. A partial run reports on what exists: none."""
    found: dict[str, list[str]] = {}
    for name in () if config.partial else config.experiments:
        settings = config.experiments[name]
        for arm in unsafe(config, settings):
            if arm in (*settings.arms, *settings.ceilings):
                found.setdefault(arm, []).append(name)
    return found


def waiting(config: Config) -> dict[str, dict[str, int]]:
    """Placements that need more hosts than the configuration has: {experiment: {placement: hosts needed}}."""
    found: dict[str, dict[str, int]] = {}
    for name in config.experiments:
        settings = config.experiments[name]
        for placement in settings.placements:
            wanted = max(own.nodes for own in settings.within(placement).turns())
            if wanted > config.hosts:
                found.setdefault(name, {})[placement] = wanted
    return found


def most_hosts(config: Config) -> int:
    """The most hosts that any launch needs; at most as many as the configuration has."""
    needed = [count for placements in waiting(replace(config, hosts=0)).values() for count in placements.values()]
    return min(max(needed, default=1), config.hosts)
