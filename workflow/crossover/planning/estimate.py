"""What a run will take, said before it starts; and what it took, held against that when it ends."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from crossover.planning import plan, second_sweep
from crossover.planning.plan import Config, Launch, Settings
from crossover.records import absence

START_SECONDS = 1
START_SECONDS_PER_RANK = 1.2
"""What a launch takes beside its budget: starting and stopping its processes, and whatever it starts with them. Seen
where ranks were several to a core.
"""

JOB_SECONDS = 12
"""What a batch system adds to a launch: nodes are given out at intervals, and in the job Snakemake starts twice. Seen
with Slurm, where no other jobs waited.
"""

PARTS = {
    "queued_seconds": "in the queue",
    "entering_seconds": "until its launch began",
    "meeting_seconds": "until the processes had met",
    "staying_seconds": "from there to its file",
}
"""Where a job's time goes, one after another, in words."""


@dataclass(frozen=True)
class Cost:
    """What launches take: time of nodes, wall time, and the most nodes in use at a time."""

    node_seconds: float
    wall_seconds: float
    nodes: int


def cost(jobs: Iterable[tuple[float, int]], nodes: int) -> Cost:
    """What jobs of so many (seconds, nodes) take on so many nodes at most, each begun as soon as there are enough free.

    >>> cost([(60, 1), (60, 1), (60, 2)], nodes=8)
    Cost(node_seconds=240, wall_seconds=60.0, nodes=4)
    >>> cost([(60, 1), (60, 1), (60, 2)], nodes=2)
    Cost(node_seconds=240, wall_seconds=120.0, nodes=2)
    """
    jobs = list(jobs)
    free = [0.0] * min(nodes, sum(wanted for _, wanted in jobs))
    for seconds, wanted in jobs:
        free.sort()
        free[:wanted] = [free[wanted - 1] + seconds] * wanted
    return Cost(sum(seconds * wanted for seconds, wanted in jobs), max(free, default=0.0), len(free))


@dataclass(frozen=True)
class Course:
    """A run, which begins when this is made. Launches are as `plan.launches` and `sweep.launches` give them."""

    config: Config
    nodes: int | None
    """The most in use at a time on a cluster; None where it measures on the machine that it runs on."""
    began: float = field(default_factory=time.time)

    def expected(self, launches: Sequence[Launch]) -> Cost:
        """What these launches will take."""
        added = JOB_SECONDS if self.nodes else 0
        settings = [self._settings(launch) for launch in launches]
        return cost([(launch_seconds(each) + added, plan.nodes(each)) for each in settings], self.nodes or 1)

    def outlook(self, due: Sequence[Launch], unrefined: Iterable[str] = ()) -> str:
        """What it will take to measure what is due, in words.

        `unrefined` are experiments whose second sweep shows only when the first is done: as many launches as that has,
        and none longer, if there is a crossover on each of its curves.
        """
        after = [launch for experiment in unrefined for launch in plan.launches(self.config, experiment)]
        told = f"tier {self.config['tier']}: {self._words(due) if due else 'nothing is left to measure'}"
        if after:
            told += f"\nthen, inside the crossovers that were found, a second sweep of at most {self._words(after)}"
            whole = self.expected(due).wall_seconds + self.expected(after).wall_seconds
            told += f"\nboth together: at most {_time(whole)}"
        return told

    def _words(self, launches: Sequence[Launch]) -> str:
        expected, count = self.expected(launches), _counted(len(launches))
        if self.nodes is None:
            return f"{count}, about {_time(expected.wall_seconds)} of measuring on this machine"
        return (
            f"{count}, a job each; about {_node_hours(expected.node_seconds)}, {_time(expected.wall_seconds)} on "
            f"{_at_a_time(expected.nodes)}; what they wait behind others' jobs comes on top"
        )

    def review(self, due: Sequence[Launch]) -> str:
        """What it took to measure what was due, beside what was expected; the holes; where the time of a job went."""
        told = [(launch, self._facts(launch)) for launch in due if self._ended(launch)]
        # A launch that could not be measured again keeps its file, which Snakemake marks as new.
        told = [(launch, fact) for launch, fact in told if self._is_of_this_run(fact)]
        if not told:
            return "no launch was measured"
        done, facts, expected = [launch for launch, _ in told], [fact for _, fact in told], self.expected(due)
        holes = absence.alike(facts)
        took = max(self._ended(launch) for launch in done) - self.began
        said = (
            f"{len(done) - sum(map(len, holes))} of {_counted(len(due))} measured in {_time(took)}, "
            f"{_time(expected.wall_seconds)} expected"
        )
        return "\n".join([said + self._jobs(done, facts, expected), *map(self._told, holes)])

    def _told(self, holes: Sequence[dict[str, Any]]) -> str:
        """One line for launches that left the same hole: which, why, and how they are tried again."""
        numbers = ", ".join(str(fact["launch"]) for fact in holes)
        files = " ".join(str(self._file(fact)) for fact in holes)
        hole = holes[0]
        return (
            f"not measured: {hole['experiment']}, placement {hole['placement']}, launch {numbers} ({hole['hole']}): "
            f"{hole['reason']}; to try again, add -R {files}"
        )

    def _is_of_this_run(self, fact: dict[str, Any]) -> bool:
        started = fact.get("started_utc")
        return started is None or datetime.fromisoformat(started).timestamp() >= self.began

    def _jobs(self, done: Sequence[Launch], facts: Sequence[dict[str, Any]], expected: Cost) -> str:
        """On a cluster, what the jobs used, and where their time went."""
        if self.nodes is None:
            return ""
        used = sum(
            (fact["wall_seconds"] + fact.get("entering_seconds", 0)) * plan.nodes(self._settings(launch))
            for fact, launch in zip(facts, done, strict=True)
        )
        parts = [f"{seconds:.0f} s {words}" for words, seconds in _parts(facts).items()]
        return (
            f"; {_node_hours(used)}, {_node_hours(expected.node_seconds)} expected\n"
            f"a job, in the median: {', '.join(parts)}"
        )

    def _settings(self, launch: Launch) -> Settings:
        return second_sweep.settings_of(self.config, launch)

    def _file(self, launch: Launch) -> Path:
        return Path(plan.raw_file(self.config, launch))

    def _ended(self, launch: Launch) -> float:
        """When its file was written; 0 if this run has left none."""
        file = self._file(launch)
        written = file.stat().st_mtime if file.exists() else 0
        return written if written >= self.began else 0

    def _facts(self, launch: Launch) -> dict[str, Any]:
        # Not before the end: it takes a second to load.
        from crossover.records import record

        facts: dict[str, Any] = record.metadata(record.read(self._file(launch), record.MEASUREMENTS))["launch"]
        return facts


def launch_seconds(settings: Settings) -> float:
    """How long one launch takes."""
    return float(START_SECONDS + START_SECONDS_PER_RANK * plan.ranks(settings) + settings["budget_seconds"])


def _parts(facts: Iterable[dict[str, Any]]) -> dict[str, float]:
    """The median over launches of each part of a job that is known."""
    told = [fact | {"staying_seconds": fact["wall_seconds"] - fact.get("meeting_seconds", 0)} for fact in facts]
    known = {words: [fact[part] for fact in told if part in fact] for part, words in PARTS.items()}
    return {words: statistics.median(seconds) for words, seconds in known.items() if seconds}


def _counted(launches: int) -> str:
    return "1 launch" if launches == 1 else f"{launches} launches"


def _time(seconds: float) -> str:
    if seconds >= 7200:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def _at_a_time(nodes: int) -> str:
    return f"up to {nodes} nodes at a time" if nodes > 1 else "one node"


def _node_hours(seconds: float) -> str:
    return f"{seconds / 3600:.2g} node-hours"
