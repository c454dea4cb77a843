"""From a complete configuration to launches, and to the plan of a run: a value that is made before the run starts.

This module reads no clock. Every Snakemake job loads it, so it imports nothing slow.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from crossover.design import experiments
from crossover.design.config import Config
from crossover.design.farms import authenticates, crosses_hosts
from crossover.design.launch import MOST_LAUNCHES, Launch
from crossover.design.settings import Settings
from crossover.planning import batches, receipt
from crossover.planning.batches import HERE, Job, Site
from crossover.planning.demand import Demand
from crossover.planning.estimate import Estimate
from crossover.planning.receipt import FOLDER, NAME, Files, Receipt


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


def left_out(config: Config) -> list[str]:
    """One line for each arm that the configuration does not allow, and one for launches with too many hosts."""
    found, more = withheld(config), waiting(config)
    lines = [f"not measured: {arm} of {', '.join(names)}: {UNSAFE}" for arm, names in found.items()]
    nothing = all({*own.placements} == {*more.get(name, ())} for name, own in config.experiments.items())
    if words := wider(config):
        lines.append(f"not measured: {words}; {config.too_few_nodes}")
    elif more and nothing:
        places = [f"{name} (placement {', '.join(placements)})" for name, placements in more.items()]
        lines.append(f"not measured: {', '.join(places)}: this needs a cluster, as with --profile slurm")
    return lines


def wider(config: Config) -> str:
    """What a cluster has too few nodes for, in words; empty if it has enough, and on a single machine."""
    needs = [
        f"{name} (placement {', '.join(placements)}) needs {max(placements.values())} nodes"
        for name, placements in waiting(config).items()
    ]
    return f"{', '.join(needs)}; this cluster gives {config.hosts}" if needs and config.too_few_nodes else ""


# ---- the plan of a run

HOSTS = "hosts"
"""The key of experiments that the cluster decides."""


@dataclass(frozen=True)
class Plan:
    """What a run needs and measures."""

    estimate: Estimate
    tables: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The experiments of which the targets need tables, each with the receipts that these are made from."""
    joined: bool = False
    """Whether the targets need the joined tables of all experiments."""
    launches: Mapping[str, Launch] = field(default_factory=dict)
    """The launches that the targets need, by their receipts; none of a partial run."""
    jobs: Sequence[Job] = ()
    """Those among them that the run measures, by the job that they share."""
    measured: frozenset[str] = frozenset()
    """The receipts of those that it keeps."""
    conflict: str = ""
    """The message to the user if measured launches differ from what the run would measure."""
    remarks: Sequence[str] = ()
    """Those on the launches of a partial run."""

    @cached_property
    def due(self) -> dict[str, Launch]:
        """The launches that the run measures, by their receipts."""
        return {path: launch for job in self.jobs for path, launch in job.launches.items()}

    @cached_property
    def _job_of(self) -> dict[str, Job]:
        return {path: job for job in self.jobs for path in job.launches}

    def job(self, path: str) -> Job:
        """The job of the launch with this receipt; an empty one if the run does not measure it."""
        return self._job_of.get(path, Job())

    def place(self, path: str) -> tuple[Any, ...]:
        """The place in the run's order of the launch with this receipt; another file comes first."""
        return _place(path, self.launches[path]) if path in self.launches else ()


def make(demand: Demand, targets: Sequence[str], site: Site = HERE, others: Mapping[str, int] | None = None) -> Plan:
    """The plan of a run with these `targets`; `others` are the numbers of measured launches of other tiers."""
    demand = _with_engines_kept(demand)
    config, owning = demand.config, owners(demand.config, targets)
    names = [name for name in config.experiments if name in owning]
    named = replace(config, experiments={name: config.experiments[name] for name in names})
    estimate = Estimate(config.tier, [], site.nodes, site.at_once, site.is_known, left_out(named))
    if config.partial:
        remarks = demand.remarks(launches(config), others or {})
        return Plan(estimate, {name: demand.existing(name) for name in names}, ALL in owning, remarks=remarks)
    tables = {name: {demand.path(each): each for each in _with_hosts_kept(demand, name)} for name in names}
    every = {path: each for own in tables.values() for path, each in own.items()}
    every |= {
        path: each
        for path, each in _single(config, targets).items()
        if path not in every and each not in {*every.values()}
    }
    due = dict(sorted(demand.due(every).items(), key=lambda item: _place(*item)))
    jobs = batches.split(site, due, demand.receipts)
    return Plan(
        replace(estimate, jobs=[[*job.launches.values()] for job in jobs]),
        {name: [*own] for name, own in tables.items()},
        ALL in owning,
        every,
        jobs,
        frozenset(path for path in every if path not in due and demand.receipts[path].measured),
        demand.conflict([each for path, each in every.items() if path not in demand.forced]),
    )


def _with_engines_kept(demand: Demand) -> Demand:
    """The demand with the engines of each experiment's newest measured launch, if this differs in nothing else."""
    for name, keys in demand.of_cluster.items():
        own = [each for which, all_turns in demand.held.items() if which[0] == name for each in all_turns]
        if keys not in ((), (HOSTS,)) and (before := receipt.latest(own)) and (config := _kept(demand, before, keys)):
            demand = replace(demand, config=config)
    return demand


def _with_hosts_kept(demand: Demand, name: str) -> Iterator[Launch]:
    """The launches of an experiment: a measured one keeps its hosts, others have those that there are now."""
    for own in launches(demand.config, name):
        last, before = demand.receipts.get(demand.path(own)), receipt.latest(demand.held.get(own.name, ()))
        if before and not (last and last.measured) and (config := _kept(demand, before, (HOSTS,))):
            kept = launch(config, *own.name)
            path = demand.path(kept)
            yield kept if path in demand.receipts and path not in demand.forced else own
        else:
            yield own


def _kept(demand: Demand, before: Receipt, keys: Sequence[str]) -> Config | None:
    """The configuration with these `keys` as in a measured launch, if it differs in nothing else; None otherwise."""
    config, name = demand.config, before.name[0]
    if config.remeasure or demand.forced.everything or {*keys}.isdisjoint(demand.of_cluster.get(name, ())):
        return None
    if not before.measured or launch(config, *before.name).settings.digest == before.digest:
        return None
    stored = receipt.stored_settings(before)
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value := stored[key], list) else value for key in keys if key in stored
    }
    own = replace(config.experiments[name], **values)
    found = replace(config, experiments={**config.experiments, name: own})
    return found if launch(found, *before.name).settings.digest == before.digest else None


def _place(path: str, launch: Launch) -> tuple[int, bytes]:
    """The first launch of every experiment, then the second of every one, so that the intervals of an experiment have
    the states of the machine during the whole run. Among these, a hash draws the order; resumed, a run has the same.
    """
    return launch.repetition, sha256(path.encode()).digest()


ALL = "all"
"""The owner of a target that needs the joined tables of all experiments."""


def owners(config: Config, targets: Sequence[str]) -> frozenset[str]:
    """The experiments of which these targets, rules and files, need tables; with ALL if they need the joined ones."""
    found = {_owner(config, Path(os.path.normpath(target))) for target in targets} - {""}
    return frozenset(found | set(config.experiments) if ALL in found else found)


def _owner(config: Config, target: Path) -> str:
    """The experiment of which a target needs tables, ALL, or none."""
    if str(target) in config.experiments:
        return str(target)
    inner = target.relative_to(config.results) if target.is_relative_to(config.results) else target
    first, second, *_ = (*inner.parts, "", "")
    if first in ("doctor", "launches", "native"):
        return ""
    return second if first in ("experiments", "figures") and second in config.experiments else ALL


def _single(config: Config, targets: Sequence[str]) -> dict[str, Launch]:
    """The launches whose receipts are targets themselves, by these."""
    folder = Path(FOLDER.format(results=config.results, tier=config.tier))
    found = {}
    for path in (Path(os.path.normpath(target)) for target in targets):
        if path.is_relative_to(folder) and NAME.fullmatch(path.stem) and path.parts[-3] in config.experiments:
            files = Files(path)
            found[str(path)] = launch(config, *files.name)
    return found
