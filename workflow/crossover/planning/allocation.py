"""Where the time of launches went: their phases, and their parts of batch jobs, in which launches share a start."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

Fact = Mapping[str, Any]
"""A row of record.LAUNCHES, or the same facts in the metadata of a raw file."""


def apart(launches: Iterable[Fact]) -> list[dict[str, Any]]:
    """The launches, each with the delay that it had itself: a later one of a job waited only from the end of the last.

    So the `entering_seconds` and `wall_seconds` of the launches of a job add up to its duration, and only the first
    keeps `queued_seconds`. Launches without a job are unchanged.
    """
    jobs: dict[Any, list[Fact]] = defaultdict(list)
    for number, fact in enumerate(launches):
        within = fact.get("job") and fact.get("entering_seconds") is not None
        jobs[fact["job"] if within else number].append(fact)
    found = []
    for job in jobs.values():
        ended = 0.0
        for place, fact in enumerate(sorted(job, key=lambda fact: fact.get("entering_seconds") or 0)):
            own = dict(fact)
            if place:
                own |= {"queued_seconds": None, "entering_seconds": fact["entering_seconds"] - ended}
            ended = (fact.get("entering_seconds") or 0) + (fact["wall_seconds"] or 0)
            found.append(own)
    return found


def node_seconds(fact: Fact, nodes: int) -> float:
    """The node-seconds of a launch on so many nodes, from `apart`."""
    return float((fact.get("entering_seconds") or 0) + (fact["wall_seconds"] or 0)) * nodes


def timed_share(facts: Iterable[tuple[Fact, int]]) -> float | None:
    """The part of the node-seconds of jobs that is inside timed blocks; each launch, from `apart`, with its nodes.

    None without a batch job.
    """
    of_jobs = [(fact, nodes) for fact, nodes in facts if fact.get("entering_seconds") is not None]
    used = sum(node_seconds(fact, nodes) for fact, nodes in of_jobs)
    return sum((fact.get("timed_seconds") or 0) * nodes for fact, nodes in of_jobs) / used if used else None


PHASES = ("entry", "start", "calibration", "warm-up", "arms", "null arm", "ceilings", "around blocks", "end")
"""The phases of a launch; those of measure.sampling.phases from calibration to `around blocks`. `entry` is the time
in a batch job before the launch, in which the job and Snakemake start."""


def spent(launches: Iterable[Fact]) -> dict[str, float]:
    """The part of the launches' time in each of PHASES; they add up to 1.

    `start` is the time until the driver is ready, `end` that after the last round. Empty if no launch has recorded its
    phases.
    """
    seconds: dict[str, float] = dict.fromkeys(PHASES, 0.0)
    for fact in apart(launches):
        if not fact.get("phases"):
            continue
        own: dict[str, float] = json.loads(fact["phases"])
        own["entry"] = fact.get("entering_seconds") or 0.0
        own["start"] = fact["meeting_seconds"] + own.pop("connection")
        own["end"] = max(0.0, fact["wall_seconds"] - sum(own.values()) + own["entry"] + own.get("end", 0.0))
        for phase in PHASES:
            seconds[phase] += own.get(phase, 0.0)
    whole = sum(seconds.values())
    return {phase: part / whole for phase, part in seconds.items()} if whole else {}


def words(parts: Mapping[str, float]) -> str:
    """The parts of `spent` in words.

    >>> words({"start": 0.25, "arms": 0.75, "ceilings": 0.0})
    '25 % start, 75 % arms'
    """
    return ", ".join(f"{100 * part:.0f} % {phase}" for phase, part in parts.items() if part)
