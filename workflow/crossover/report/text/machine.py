"""The machine and the run, from ranks and launches: facts, hosts that are slow, hosts shared with other jobs."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from crossover.experiments import declared
from crossover.paths import SITE
from crossover.planning import estimate
from crossover.records.rows import Host, Launch, Rank
from crossover.report.text import numbers
from crossover.report.text.tables import Tables, grouped, place

UNKNOWN = "unknown"

PAIRS = "snakemake --profile slurm -- {}"
"""The command for an experiment that measures pairs of hosts."""


def kinds(ranks: Sequence[Rank]) -> dict[str, dict[str, str]]:
    """The facts of each kind of host: {hosts with the same facts: {name: text}}."""
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for host in sorted({rank.host for rank in ranks}):
        own = [_facts(rank) for rank in ranks if rank.host == host]
        facts = tuple((name, _distinct(each[name] for each in own)) for name in own[0])
        alike.setdefault(facts, []).append(host)
    return {numbers.listed(hosts): dict(facts) for facts, hosts in alike.items()}


def _facts(rank: Rank) -> dict[str, str]:
    """The lines of the machine's table, as one rank recorded them."""
    # Other facts of a job differ from launch to launch and do not describe the machine.
    job = rank.slurm
    facts = {
        "processor": rank.cpu,
        "logical processors": rank.logical_cpus,
        "memory": rank.memory_bytes and numbers.quantity(rank.memory_bytes, "bytes"),
        "governor": rank.governor,
        "affinity of the ranks": rank.affinity,
        "network": _entries(rank.network, " Mbit/s"),
        "kernel": rank.kernel,
        "system": rank.os,
        "container": rank.container or "none",
        "Slurm": f"partition {job.get('SLURM_JOB_PARTITION', UNKNOWN)}" if job else "not in a job",
        "MPI": rank.mpi,
        "Python": rank.python,
        "libraries": _entries(rank.libraries),
        "variables that can change results": rank.variables is not None and (_entries(rank.variables) or "none"),
        "settings of the kernel": _entries(rank.tuning),
    }
    return {name: str(value or UNKNOWN) for name, value in facts.items()}


def _entries(entries: Mapping[str, object] | None, unit: str = "") -> str:
    """The entries of a column as text, without empty ones."""
    return ", ".join(f"{key} {value}{unit}" for key, value in sorted((entries or {}).items()) if value)


def _distinct(values: Iterable[str]) -> str:
    return "; ".join(sorted(set(values)))


def health(
    launches: Sequence[Launch], ranks: Sequence[Rank], stops: Iterable[str | None], validities: Iterable[str | None]
) -> dict[str, str]:
    """The lines of the table on an experiment's run.

    `stops` has the reason why each cell of each launch stopped, `validities` the validity of each measurement.
    """
    measured = [row for row in launches if row.outcome == "measured"]
    limits = (_limits(row.settings) if row.settings else UNKNOWN for row in launches)
    known = [row.wall_seconds for row in launches if row.wall_seconds is not None]
    # Holes have no timed blocks.
    wall_seconds = sum(row.wall_seconds or 0 for row in measured)
    timed_seconds = sum(row.timed_seconds or 0 for row in measured if row.wall_seconds)
    share = (
        f"{numbers.percent(timed_seconds / wall_seconds)} of {numbers.duration(wall_seconds)}" if wall_seconds else "–"
    )
    interfaces = (str(row.interface or UNKNOWN) for row in ranks if row.placement == "nodes")
    return {
        "launches with data": f"{len(measured)} of {len(launches)}",
        "limits of each launch": _distinct(limits),
        "total time of launches": numbers.duration(sum(known)) if known else UNKNOWN,
        "in timed blocks": share,
        "time, by phase": estimate.phases_in_words(estimate.phases_of(measured)) or UNKNOWN,
        "interface between hosts": _distinct(interfaces) or "–",
        "cells, by reason to stop": tally(stops),
        "rows, by validity": tally(validities),
    }


ALLOCATED = "node time in timed blocks"
"""The name of a line in the table on a run, present if launches ran in batch jobs."""


def allocated(launches: Sequence[Launch]) -> dict[str, str]:
    """The part of the batch jobs' node time that is inside timed blocks, by experiment; empty without a job."""
    facts: dict[str, list[tuple[Launch, int]]] = defaultdict(list)
    for row in estimate.apart(launches):
        facts[row.experiment].append((row, len((row.hosts or "").split(","))))
    shares = {name: estimate.timed_share(own) for name, own in facts.items()}
    return {name: numbers.percent(share) for name, share in shares.items() if share is not None}


CROWDED = "launches with more ranks on a host than logical processors"
"""The name of a line in the table on a run, present if there are such launches."""


def crowded(ranks: Sequence[Rank]) -> Counter[str]:
    """The number of launches whose ranks took turns, because a host had fewer logical processors, by experiment."""
    counts: Counter[tuple[Any, ...]] = Counter()
    processors = {}
    for rank in ranks:
        place = (rank.experiment, rank.placement, rank.launch, rank.host)
        counts[place] += 1
        processors[place] = rank.logical_cpus
    found = {place[:3] for place, count in counts.items() if count > (processors[place] or count)}
    return Counter(experiment for experiment, *_ in found)


def _limits(settings: Mapping[str, Any]) -> str:
    rounds, block = settings["rounds"], numbers.quantity(settings["block_seconds"], "s")
    return (
        f"blocks of at least {block}, {rounds['at_least']} to {rounds['at_most']} rounds per cell, "
        f"target ±{numbers.percent(settings['target_width'])}, "
        f"{numbers.duration(settings['budget_seconds'])} per launch"
    )


def tally(values: Iterable[str | None]) -> str:
    """The number of each value, the most frequent first.

    >>> tally(["width", "budget", "width"])
    'width: 2, budget: 1'
    """
    counts = Counter(value or UNKNOWN for value in values)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{value}: {count:,}" for value, count in ordered) or "–"


def slow_hosts(rows: Sequence[Host]) -> list[Host]:
    """The row with the largest factor of each worse host, experiment and placement; the largest first."""
    worse = [row for row in rows if row.verdict == "worse"]
    own = grouped(sorted(worse, key=lambda row: -(row.factor or 0)), "host", "experiment", "placement").values()
    return [strongest for strongest, *_ in own]


def compared_hosts(tables: Tables) -> list[str]:
    """A sentence for each slow host; then one for each experiment whose launches ran on several sets of hosts.

    If there are any, the last ones name the experiments that measure every pair of hosts and are not in the run.
    """
    named = [_slow(row, tables) for row in slow_hosts(tables.hosts)]
    places = grouped(tables.hosts, "experiment", "placement").values()
    said = [*named, *(_not_slow(rows) for rows in places if not slow_hosts(rows))]
    closer = [name for name, each in declared().items() if each.settings.pairs_of_hosts]
    measured = {row.experiment for row in tables.pairs}
    further = [
        f"`{name}` measures every pair of hosts: `{PAIRS.format(name)}`." for name in closer if name not in measured
    ]
    return [*said, *further] if said else []


def slowest_host(tables: Tables) -> str:
    """The slow host with the largest factor, in one line; empty if there is none."""
    found = slow_hosts(tables.hosts)
    if not found:
        return ""
    row, others = found[0], {each.host for each in found[1:]} - {found[0].host}
    rest = f"; also {numbers.listed(sorted(others))}" if others else ""
    return (
        f"Slow host: launches with {row.host} are {_factor(row)} times worse ({row.experiment}, {row.metric} "
        f"{_along(row)}, {row.launches_with} with it, {row.launches_without} without){rest}. Leave it out."
    )


def shared_hosts(launches: Sequence[Launch]) -> str:
    """A warning that other jobs may have run beside launches, with their number and the key; empty if none had."""
    measured = [row for row in launches if row.outcome == "measured"]
    # Earlier releases did not record it.
    count = sum(row.exclusive is False for row in measured)
    if not count:
        return ""
    return (
        f"Nodes not exclusive: other jobs may have run beside {count} of {numbers.counted(len(measured), 'launch')}, "
        f"and may have changed their results. If your site allows it, remove `exclusive: false` from `{SITE}`."
    )


def _slow(row: Host, tables: Tables) -> str:
    host = row.host
    sides = f"{numbers.counted(row.launches_with, 'launch')} with it, {row.launches_without} without"
    return (
        f"{place(row)}: launches with the host `{host}` are {_factor(row)} times worse in {row.metric} "
        f"{_along(row)} ({row.protocol}) than launches without it ({sides}). "
        "The host or its link is slow. Leave it out: remove it from `node_list`, or choose other nodes by "
        f"`constraint`, in `{SITE}`, or add `--exclude={host}` to `slurm_extra` in your profile; or measure on alike "
        f"hosts. Launches by hosts: {_sets_of_hosts(row, tables)}."
    )


def _not_slow(rows: Sequence[Host]) -> str:
    names = numbers.listed([f"`{name}`" for name in sorted({row.host for row in rows})])
    if all(row.p is None for row in rows):
        return f"{place(rows[0])}: the launches ran on {names}, but they are too few to compare these hosts."
    return f"{place(rows[0])}: the launches ran on {names} and were compared; no host is shown to be slower."


def _along(row: Host) -> str:
    low, high = (numbers.quantity(end, row.axis_unit) for end in (row.x_from, row.x_to))
    return f"at {low}" if low == high else f"from {low} to {high}"


def _factor(row: Host) -> str:
    return "–" if row.factor is None else numbers.ratio(row.factor, row.low, row.high)


def _sets_of_hosts(row: Host, tables: Tables) -> str:
    """The hosts of the launches of a row's experiment and placement, each set with the number of its launches."""
    same = [each for each in tables.launches if (each.experiment, each.placement) == _experiment(row)]
    counts = Counter(each.hosts.replace(",", " + ") for each in same if each.hosts)
    return ", ".join(f"{names}: {count:,}" for names, count in sorted(counts.items()))


def _experiment(row: Host) -> tuple[str, str]:
    return row.experiment, row.placement
