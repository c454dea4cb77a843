"""The time that launches took of their batch jobs' nodes, and the part of it that measured."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Fact = Mapping[str, Any]
"""A row of record.LAUNCHES, or the same facts in the metadata of a raw file."""


def jobs(launches: Iterable[Fact]) -> list[list[Fact]]:
    """The launches by batch job, in the order in which they ran; launches without a job are left out."""
    found: dict[str, list[Fact]] = defaultdict(list)
    for fact in launches:
        if fact.get("job") and fact.get("entering_seconds") is not None:
            found[fact["job"]].append(fact)
    return [sorted(job, key=lambda fact: float(fact["entering_seconds"])) for job in found.values()]


def node_seconds(job: Sequence[Fact], nodes: int) -> float:
    """The node-seconds of a job on so many nodes, from its start to the file of its last launch."""
    return max(float(fact["entering_seconds"] + fact["wall_seconds"]) for fact in job) * nodes


def timed_share(launches: Iterable[tuple[Fact, int]]) -> float | None:
    """The part of the jobs' node-seconds that is inside timed blocks; each launch comes with its number of nodes.

    None without a batch job.
    """
    pairs = list(launches)
    nodes = {id(fact): count for fact, count in pairs}
    every = jobs(fact for fact, _ in pairs)
    used = sum(node_seconds(job, nodes[id(job[0])]) for job in every)
    timed = sum((fact.get("timed_seconds") or 0) * nodes[id(fact)] for job in every for fact in job)
    return timed / used if used else None


def own_delays(job: Sequence[Fact]) -> list[dict[str, Any]]:
    """The launches of a job, each with the time that it waited itself: a later one for the end of the one before it."""
    found, ended = [], 0.0
    for number, fact in enumerate(job):
        own = {**fact, "entering_seconds": fact["entering_seconds"] - ended}
        if number:
            own.pop("queued_seconds", None)
        found.append(own)
        ended = fact["entering_seconds"] + fact["wall_seconds"]
    return found
