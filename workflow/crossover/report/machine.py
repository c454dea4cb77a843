"""What the ranks and launches tell of the machine and of how the run went, as short texts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from crossover.report import quantities
from crossover.report.tables import Row

UNKNOWN = "not told"


@dataclass(frozen=True)
class Kind:
    """Hosts that are alike in everything that FACTS lists."""

    hosts: list[str]
    facts: dict[str, str]


def kinds(ranks: list[Row]) -> list[Kind]:
    """Group the hosts of all ranks by what they are."""
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
        told = [f"{key} {value}{unit}" for key, value in sorted(entries.items()) if value]
        return ", ".join(told) or UNKNOWN

    return fact


def _memory(row: Row) -> str:
    return quantities.quantity(row["memory_bytes"], "bytes") if row["memory_bytes"] else UNKNOWN


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
    "Slurm": _table("slurm"),
    "MPI": _text("mpi"),
    "Python": _text("python"),
    "libraries": _table("libraries"),
}
"""The rows of the machine's table, each with how it is read from a rank."""


def timed_share(launches: list[Row]) -> str:
    """The share of the launches' wall time that lay inside timed blocks; holes timed nothing."""
    measured = [row for row in launches if row["outcome"] == "measured" and row["wall_seconds"]]
    wall_seconds = sum(row["wall_seconds"] for row in measured)
    if not wall_seconds:
        return "–"
    timed_seconds = sum(row["timed_seconds"] or 0 for row in measured)
    return f"{quantities.percent(timed_seconds / wall_seconds)} of {quantities.quantity(wall_seconds, 's')}"


def tally(values: Iterable[str | None]) -> str:
    """How often each value occurs, the most frequent first.

    >>> tally(["width", "budget", "width"])
    'width: 2, budget: 1'
    """
    counts = Counter(value or UNKNOWN for value in values)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{value}: {count:,}" for value, count in ordered) or "–"


def when(launches: list[Row]) -> str:
    """The first and the last day of the launches, and their tiers."""
    days = sorted(row["started_utc"][:10] for row in launches if row["started_utc"])
    if not days:
        return "never"
    tiers = sorted({row["tier"] for row in launches if row["tier"]})
    span = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    return f"{span}, tier {quantities.listed(tiers)}" if tiers else span
