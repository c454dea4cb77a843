"""The machine and the run, from ranks and launches: facts, hosts shared with other jobs."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from crossover.paths import SITE
from crossover.planning import estimate
from crossover.records.rows import Launch, Rank
from crossover.records.validities import Validity
from crossover.report.text import numbers

UNKNOWN = "unknown"


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


def health(launches: Sequence[Launch], ranks: Sequence[Rank], validities: Sequence[Validity]) -> dict[str, str]:
    """The lines of the table on an experiment's run."""
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
        "cells, by reason to stop": tally((row.stop, row.cells) for row in validities),
        "rows, by validity": tally((row.validity, row.measurements) for row in validities),
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


def tally(counted: Iterable[tuple[str, int]]) -> str:
    """The number of each value, the most frequent first.

    >>> tally([("width", 1), ("budget", 2), ("width", 2)])
    'width: 3, budget: 2'
    """
    counts = Counter[str]()
    for value, count in counted:
        counts[value or UNKNOWN] += count
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{value}: {count:,}" for value, count in ordered if count) or "–"


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
