"""Facts of the machine and of the run, from ranks and launches, as short texts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from crossover.planning.plan import read_settings
from crossover.report.base import numbers
from crossover.report.base.tables import Row

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Kind:
    """Hosts with the same FACTS."""

    hosts: list[str]
    facts: dict[str, str]


def kinds(ranks: list[Row]) -> list[Kind]:
    """Group the hosts of all ranks by their facts."""
    by_host = {
        host: {name: _distinct(fact(row) for row in ranks if row["host"] == host) for name, fact in FACTS.items()}
        for host in sorted({row["host"] for row in ranks})
    }
    alike: dict[str, list[str]] = {}
    for host, facts in by_host.items():
        alike.setdefault(json.dumps(facts), []).append(host)
    return [Kind(hosts, json.loads(facts)) for facts, hosts in alike.items()]


def _distinct(values: Iterable[str]) -> str:
    return "; ".join(sorted(set(values)))


def _text(name: str) -> Callable[[Row], str]:
    return lambda row: str(row[name] or UNKNOWN)


def _table(name: str, unit: str = "") -> Callable[[Row], str]:
    """A column of JSON as text; empty entries are left out."""

    def fact(row: Row) -> str:
        entries: dict[str, object] = json.loads(row[name] or "{}")
        parts = [f"{key} {value}{unit}" for key, value in sorted(entries.items()) if value]
        return ", ".join(parts) or UNKNOWN

    return fact


def _slurm(row: Row) -> str:
    """The partition. Other facts of a job differ from launch to launch and do not describe the machine."""
    job: dict[str, str] | None = json.loads(row["slurm"] or "null")
    return f"partition {job.get('SLURM_JOB_PARTITION', UNKNOWN)}" if job else "not in a job"


def _memory(row: Row) -> str:
    return numbers.quantity(row["memory_bytes"], "bytes") if row["memory_bytes"] else UNKNOWN


FACTS: dict[str, Callable[[Row], str]] = {
    "processor": _text("cpu"),
    "logical processors": _text("logical_cpus"),
    "memory": _memory,
    "governor": _text("governor"),
    "affinity of the ranks": _text("affinity"),
    "network": _table("network", unit=" Mbit/s"),
    "kernel": _text("kernel"),
    "system": _text("os"),
    "container": lambda row: str(row["container"] or "none"),
    "Slurm": _slurm,
    "MPI": _text("mpi"),
    "Python": _text("python"),
    "libraries": _table("libraries"),
}
"""The rows of the machine's table, each with the function that reads it from a rank."""


# ---- the run


@dataclass(frozen=True)
class Experiment:
    """The facts of one experiment that HEALTH shows."""

    launches: list[Row]
    stops: list[str | None]
    """The reason why each cell of each launch stopped."""
    validities: list[str | None]
    """The validity of each row."""
    ranks: list[Row]
    """The ranks of the launches."""


def with_data(experiment: Experiment) -> str:
    """The number of launches with data."""
    measured = sum(row["outcome"] == "measured" for row in experiment.launches)
    return f"{measured} of {len(experiment.launches)}"


def limits(experiment: Experiment) -> str:
    """The limits in the launches' settings; all of them if they differ."""
    return _distinct(
        _limits(read_settings(row["settings"])) if row["settings"] else UNKNOWN for row in experiment.launches
    )


def _limits(settings: dict[str, Any]) -> str:
    rounds, block = settings["rounds"], numbers.quantity(settings["block_seconds"], "s")
    return (
        f"blocks of at least {block}, {rounds['at_least']} to {rounds['at_most']} rounds per cell, "
        f"target ±{numbers.percent(settings['target_width'])}, "
        f"{numbers.duration(settings['budget_seconds'])} per launch"
    )


def total_time(experiment: Experiment) -> str:
    """The total wall time of all launches, including holes."""
    known = [row["wall_seconds"] for row in experiment.launches if row["wall_seconds"] is not None]
    return numbers.duration(sum(known)) if known else UNKNOWN


def timed_share(experiment: Experiment) -> str:
    """The share of the launches' wall time inside timed blocks, without holes."""
    measured = [row for row in experiment.launches if row["outcome"] == "measured" and row["wall_seconds"]]
    wall_seconds = sum(row["wall_seconds"] for row in measured)
    if not wall_seconds:
        return "–"
    timed_seconds = sum(row["timed_seconds"] or 0 for row in measured)
    return f"{numbers.percent(timed_seconds / wall_seconds)} of {numbers.duration(wall_seconds)}"


def between_hosts(experiment: Experiment) -> str:
    """The network interfaces between ranks on several hosts."""
    return _distinct(str(row["interface"] or UNKNOWN) for row in experiment.ranks if row["placement"] == "nodes") or "–"


def tally(values: Iterable[str | None]) -> str:
    """The number of each value, the most frequent first.

    >>> tally(["width", "budget", "width"])
    'width: 2, budget: 1'
    """
    counts = Counter(value or UNKNOWN for value in values)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{value}: {count:,}" for value, count in ordered) or "–"


def when(launches: list[Row]) -> str:
    """The first and the last day of the launches, as the beginning of a sentence.

    >>> when([{"started_utc": "2026-11-21T10:00:00+00:00"}, {"started_utc": None}])
    'Launched on 2026-11-21'
    """
    days = sorted(row["started_utc"][:10] for row in launches if row["started_utc"])
    if not days:
        return "Nothing was launched"
    return f"Launched on {days[0]}" if days[0] == days[-1] else f"Launched from {days[0]} to {days[-1]}"


HEALTH: dict[str, Callable[[Experiment], str]] = {
    "launches with data": with_data,
    "limits of each launch": limits,
    "total time of launches": total_time,
    "in timed blocks": timed_share,
    "interface between hosts": between_hosts,
    "cells, by reason to stop": lambda experiment: tally(experiment.stops),
    "rows, by validity": lambda experiment: tally(experiment.validities),
}
"""The rows of the table on the run, each with the function that reads it from an experiment's facts."""
