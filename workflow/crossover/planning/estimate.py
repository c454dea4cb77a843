"""The expected time and node-hours of a run, printed before it starts, and at its end beside the actual ones."""

import math
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from crossover.design.launch import Launch
from crossover.records import rows
from crossover.records.holes import is_hole

JOB_SECONDS = 12
"""Time that a batch system adds to a job: it allocates nodes at intervals, and the job starts Snakemake. Measured with
Slurm while no other jobs waited, when a job still started Snakemake twice.
"""


@dataclass(frozen=True)
class Cost:
    """The cost of launches: node time, wall time, and the most nodes in use at a time."""

    node_seconds: float
    wall_seconds: float
    nodes: int


def cost(jobs: Iterable[tuple[float, int]], nodes: int, at_once: int = sys.maxsize) -> Cost:
    """The cost of jobs of (seconds, nodes) on `nodes` nodes, if each starts as soon as enough nodes are free.

    At most so many jobs run `at_once`. A job that is wider than the nodes has the nodes that it needs.

    >>> cost([(60, 1), (60, 1), (60, 2)], nodes=8)
    Cost(node_seconds=240, wall_seconds=60.0, nodes=4)
    >>> cost([(60, 1), (60, 1), (60, 2)], nodes=2)
    Cost(node_seconds=240, wall_seconds=120.0, nodes=2)
    >>> cost([(60, 1), (60, 1), (60, 2)], nodes=8, at_once=1)
    Cost(node_seconds=240, wall_seconds=180.0, nodes=2)
    """
    jobs = list(jobs)
    widths = sorted((wanted for _, wanted in jobs), reverse=True)
    used = min(max([nodes, *widths[:1]]), sum(widths[:at_once]))
    free, places = [0.0] * used, [0.0] * min(at_once, len(jobs))
    for seconds, wanted in jobs:
        free.sort()
        places.sort()
        places[0] = max(free[wanted - 1], places[0]) + seconds
        free[:wanted] = [places[0]] * wanted
    return Cost(sum(seconds * wanted for seconds, wanted in jobs), max(free, default=0.0), used)


@dataclass(frozen=True)
class Estimate:
    """What the launches that a run measures are expected to cost."""

    tier: str
    jobs: Sequence[Sequence[Launch]]
    """The launches, by the job that they share."""
    nodes: int | None = None
    """The most nodes in use at a time on a cluster; None if the run measures the machine that it runs on."""
    at_once: int = sys.maxsize
    """The most jobs at a time."""
    is_known: bool = True
    """Whether the cluster has said how many nodes there are, without which a duration would be a guess."""
    left_out: Sequence[str] = ()
    """Lines about what is not measured."""

    @property
    def due(self) -> list[Launch]:
        """The launches."""
        return [launch for job in self.jobs for launch in job]

    @cached_property
    def cost(self) -> Cost:
        """Their expected cost."""
        around = JOB_SECONDS if self.nodes else 0
        jobs = [
            (sum(launch.settings.expected_seconds for launch in job) + around, job[0].settings.nodes)
            for job in self.jobs
        ]
        return cost(jobs, self.nodes or 1, self.at_once)

    @property
    def outlook(self) -> str:
        """Their expected cost in words."""
        text = f"tier {self.tier}: {self._words if self.jobs else 'nothing is left to measure'}"
        return "\n".join([text, *self.left_out])

    @property
    def widths(self) -> list[int]:
        """The number of ranks on the fullest host of each launch."""
        return [math.ceil(launch.settings.ranks / launch.settings.nodes) for launch in self.due]

    @property
    def _words(self) -> str:
        count = _counted(len(self.due))
        if self.nodes is None:
            return f"{count}, about {duration(self.cost.wall_seconds)} of measuring on this machine"
        hours, jobs = _node_hours(self.cost.node_seconds), len(self.jobs)
        count += ", a job each" if jobs == len(self.due) else f" in {jobs} {'job' if jobs == 1 else 'jobs'}"
        if not self.is_known:
            return f"{count}; about {hours}; the duration depends on the free nodes"
        nodes = f"up to {self.cost.nodes} nodes at a time" if self.cost.nodes > 1 else "one node"
        return (
            f"{count}; about {hours}, {duration(self.cost.wall_seconds)} on "
            f"{nodes}, plus the time spent waiting for other jobs"
        )

    def review(self, ended: Sequence[tuple[rows.Launch, float]], began: float) -> str:
        """Actual beside expected cost, of a run that `began` at this time of the monotonic clock.

        `ended` has the launches that ended, each with the time when it was written.
        """
        if not ended:
            return "\n".join(["no launch was measured", *self.left_out])
        launches = [launch for launch, _ in ended]
        holes, gone = sum(map(is_hole, launches)), time.monotonic() - began
        # This clock can jump, so it only tells how long ago the last launch ended, if that can be.
        since = time.time() - max(written for _, written in ended)
        took = gone - since if 0 < since < gone else gone
        text = f"{len(launches) - holes} of {_counted(len(self.due))} measured in {duration(took)}"
        text += f", {duration(self.cost.wall_seconds)} expected" if self.is_known else ""
        if self.nodes is not None:
            text += self._used(launches)
        return "\n".join([text, *self.left_out])

    def _used(self, launches: Sequence[rows.Launch]) -> str:
        """The used beside the expected node-hours, and the part inside timed blocks."""
        nodes = {launch.name: launch.settings.nodes for launch in self.due}
        pairs = [(launch, nodes[launch.name]) for launch in apart(launches)]
        share = timed_share(pairs)
        measuring = "" if share is None else f", {share:.0%} of it inside timed blocks"
        used = sum(node_seconds(*pair) for pair in pairs)
        return f"; {_node_hours(used)}{measuring}, {_node_hours(self.cost.node_seconds)} expected"


def oversubscribed(widths: Sequence[int], most: float) -> str:
    """The launches with more ranks on a host than `most`, which have a processor each; empty without such launches.

    >>> oversubscribed([2, 9, 17], 4)
    '2 of 3 launches have more ranks on a host than it has logical processors, up to 17; their ranks take turns'
    """
    wide = [width for width in widths if width > most]
    if not wide:
        return ""
    have, their = ("has", "its") if len(wide) == 1 else ("have", "their")
    return (
        f"{len(wide)} of {_counted(len(widths))} {have} more ranks on a host than it has logical processors, up to "
        f"{max(wide)}; {their} ranks take turns"
    )


def curtailed(minutes: Sequence[float], most: float) -> str:
    """The launches that would request more than the `most` minutes of a job, in words; empty without such launches.

    >>> curtailed([2.5, 7], 6)
    '1 of 2 launches would request more than the 6 min that Slurm grants; they request that time, and end without a \
measurement if they take longer'
    """
    longer = sum(each > most for each in minutes)
    if not longer:
        return ""
    return (
        f"{longer} of {_counted(len(minutes))} would request more than the {most} min that Slurm grants; they request "
        "that time, and end without a measurement if they take longer"
    )


def _counted(launches: int) -> str:
    return "1 launch" if launches == 1 else f"{launches} launches"


def duration(seconds: float) -> str:
    """Seconds in words, such as `20 min`."""
    if seconds >= 7200:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def _node_hours(seconds: float) -> str:
    hours = seconds / 3600
    return f"{hours:.0f} node-hours" if hours >= 99.5 else f"{hours:.2g} node-hours"


def apart(launches: Iterable[rows.Launch]) -> list[rows.Launch]:
    """The launches, each with the delay that it had itself: a later one of a job waited only from the end of the last.

    So the `entering_seconds` and `wall_seconds` of the launches of a job add up to its duration, and only the first
    keeps `queued_seconds`. Launches without a job are unchanged.
    """
    jobs: dict[object, list[rows.Launch]] = defaultdict(list)
    for number, launch in enumerate(launches):
        jobs[launch.job if launch.job and launch.entering_seconds is not None else number].append(launch)
    found = []
    for job in jobs.values():
        ended = 0.0
        for place, launch in enumerate(sorted(job, key=lambda launch: launch.entering_seconds or 0)):
            entering = launch.entering_seconds or 0
            # Earlier releases compared two clocks.
            own = replace(launch, entering_seconds=max(0.0, entering - ended)) if place or entering < 0 else launch
            found.append(replace(own, queued_seconds=None) if place else own)
            ended = entering + (launch.wall_seconds or 0)
    return found


def node_seconds(launch: rows.Launch, nodes: int) -> float:
    """The node-seconds of a launch on so many nodes, from `apart`."""
    return ((launch.entering_seconds or 0) + (launch.wall_seconds or 0)) * nodes


def timed_share(launches: Iterable[tuple[rows.Launch, int]]) -> float | None:
    """The part of the node-seconds of jobs that is inside timed blocks; each launch, from `apart`, with its nodes.

    None without a batch job.
    """
    of_jobs = [(launch, nodes) for launch, nodes in launches if launch.entering_seconds is not None]
    used = sum(node_seconds(launch, nodes) for launch, nodes in of_jobs)
    return sum((launch.timed_seconds or 0) * nodes for launch, nodes in of_jobs) / used if used else None


PHASES = ("entry", "start", "calibration", "warm-up", "arms", "null arm", "ceilings", "around blocks", "end")
"""The phases of a launch; those of measure.sampling.sampler from calibration to `around blocks`. `entry` is the time
in a batch job before the launch, in which the job and Snakemake start."""


def phases_of(launches: Iterable[rows.Launch]) -> dict[str, float]:
    """The part of the launches' time in each of PHASES; they add up to 1.

    `start` is the time until the driver is ready, `end` that after the last round. Empty if no launch has recorded its
    phases.
    """
    seconds: dict[str, float] = dict.fromkeys(PHASES, 0.0)
    for launch in apart(launches):
        if not launch.phases:
            continue
        own = dict(launch.phases)
        own["entry"] = launch.entering_seconds or 0.0
        own["start"] = (launch.meeting_seconds or 0.0) + own.pop("connection")
        wall_seconds = launch.wall_seconds or 0.0
        own["end"] = max(0.0, wall_seconds - sum(own.values()) + own["entry"] + own.get("end", 0.0))
        for phase in PHASES:
            seconds[phase] += own.get(phase, 0.0)
    whole = sum(seconds.values())
    return {phase: part / whole for phase, part in seconds.items()} if whole else {}


def phases_in_words(parts: Mapping[str, float]) -> str:
    """The parts of `phases_of` in phases_in_words.

    >>> phases_in_words({"start": 0.25, "arms": 0.75, "ceilings": 0.0})
    '25 % start, 75 % arms'
    """
    return ", ".join(f"{100 * part:.0f} % {phase}" for phase, part in parts.items() if part)
