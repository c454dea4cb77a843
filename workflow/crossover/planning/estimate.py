"""The expected time and node-hours of a run, printed before it starts, and at its end beside the actual ones."""

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
from crossover.records.holes import alike

START_SECONDS = 1
START_SECONDS_PER_RANK = 1.2
"""Time of a launch besides its budget, for starting and stopping processes. Measured with several ranks per core."""

JOB_SECONDS = 12
"""Time that a batch system adds to a launch: it allocates nodes at intervals, and the job starts Snakemake twice.
Measured with Slurm while no other jobs waited.
"""

PARTS = {
    "queued_seconds": "in the queue",
    "entering_seconds": "until the launch began",
    "meeting_seconds": "until its processes met",
    "staying_seconds": "until its file was written",
}
"""The consecutive phases of a job, in words."""


@dataclass(frozen=True)
class Cost:
    """The cost of launches: node time, wall time, and the most nodes in use at a time."""

    node_seconds: float
    wall_seconds: float
    nodes: int


def cost(jobs: Iterable[tuple[float, int]], nodes: int) -> Cost:
    """The cost of jobs of (seconds, nodes) on at most `nodes` nodes, if each starts as soon as enough nodes are free.

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
    """A run that begins when this is created. Launches are those of `plan.launches` or `second_sweep.launches`."""

    config: Config
    nodes: int | None
    """The most nodes in use at a time on a cluster; None if the run measures the machine that it runs on."""
    began: float = field(default_factory=time.time)

    def expected(self, launches: Sequence[Launch]) -> Cost:
        """The expected cost of these launches."""
        added = JOB_SECONDS if self.nodes else 0
        settings = [self._settings(launch) for launch in launches]
        return cost([(launch_seconds(each) + added, plan.nodes(each)) for each in settings], self.nodes or 1)

    def outlook(self, due: Sequence[Launch], unrefined: Iterable[str] = ()) -> str:
        """The expected cost of the launches that are due, in words.

        `unrefined` are experiments whose second sweep is unknown until the first is done. It has at most as many
        launches as the first, none of them longer.
        """
        after = [launch for experiment in unrefined for launch in plan.launches(self.config, experiment)]
        text = f"tier {self.config['tier']}: {self._words(due) if due else 'nothing is left to measure'}"
        if after:
            text += f"\nthen, inside the crossovers of the first sweep, a second sweep of at most {self._words(after)}"
            whole = self.expected(due).wall_seconds + self.expected(after).wall_seconds
            text += f"\nboth sweeps together: at most {duration(whole)}"
        return text

    def _words(self, launches: Sequence[Launch]) -> str:
        expected, count = self.expected(launches), _counted(len(launches))
        if self.nodes is None:
            return f"{count}, about {duration(expected.wall_seconds)} of measuring on this machine"
        return (
            f"{count}, a job each; about {_node_hours(expected.node_seconds)}, {duration(expected.wall_seconds)} on "
            f"{_at_a_time(expected.nodes)}, plus the time spent waiting for other jobs"
        )

    def review(self, due: Sequence[Launch]) -> str:
        """Actual beside expected cost of the launches that were due, the holes, and the phases of a job."""
        ended = [(launch, self._facts(launch)) for launch in due if self._ended(launch)]
        # A launch whose remeasurement failed keeps its old file, which Snakemake marks as new.
        ended = [(launch, fact) for launch, fact in ended if self._is_of_this_run(fact)]
        if not ended:
            return "no launch was measured"
        done, facts, expected = [launch for launch, _ in ended], [fact for _, fact in ended], self.expected(due)
        holes = alike(facts)
        took = max(self._ended(launch) for launch in done) - self.began
        text = (
            f"{len(done) - sum(map(len, holes))} of {_counted(len(due))} measured in {duration(took)}, "
            f"{duration(expected.wall_seconds)} expected"
        )
        return "\n".join([text + self._jobs(done, facts, expected), *map(self._line, holes)])

    def _line(self, holes: Sequence[dict[str, Any]]) -> str:
        """One line for launches with the same hole: which launches, the reason, and how to retry."""
        numbers = ", ".join(str(fact["launch"]) for fact in holes)
        files = " ".join(str(self._file(fact)) for fact in holes)
        hole = holes[0]
        return (
            f"not measured: {hole['experiment']}, placement {hole['placement']}, launch {numbers} ({hole['hole']}): "
            f"{hole['reason']}; to retry, add -R {files} (before any --)"
        )

    def _is_of_this_run(self, fact: dict[str, Any]) -> bool:
        started = fact.get("started_utc")
        return started is None or datetime.fromisoformat(started).timestamp() >= self.began

    def _jobs(self, done: Sequence[Launch], facts: Sequence[dict[str, Any]], expected: Cost) -> str:
        """On a cluster, the node-hours of the jobs, and the median time of each phase."""
        if self.nodes is None:
            return ""
        used = sum(
            (fact["wall_seconds"] + fact.get("entering_seconds", 0)) * plan.nodes(self._settings(launch))
            for fact, launch in zip(facts, done, strict=True)
        )
        parts = [f"{seconds:.0f} s {words}" for words, seconds in _parts(facts).items()]
        return f"; {_node_hours(used)}, {_node_hours(expected.node_seconds)} expected\nmedian job: {', '.join(parts)}"

    def _settings(self, launch: Launch) -> Settings:
        return second_sweep.settings_of(self.config, launch)

    def _file(self, launch: Launch) -> Path:
        return Path(plan.raw_file(self.config, launch))

    def _ended(self, launch: Launch) -> float:
        """The time at which this run wrote its file; 0 if it has not."""
        file = self._file(launch)
        written = file.stat().st_mtime if file.exists() else 0
        return written if written >= self.began else 0

    def _facts(self, launch: Launch) -> dict[str, Any]:
        # Imported only at the end of a run, because it takes a second to load.
        from crossover.records import record

        facts: dict[str, Any] = record.metadata(record.read(self._file(launch), record.MEASUREMENTS))["launch"]
        return facts


def launch_seconds(settings: Settings) -> float:
    """The expected duration of one launch."""
    return float(START_SECONDS + START_SECONDS_PER_RANK * plan.ranks(settings) + settings["budget_seconds"])


def _parts(facts: Iterable[dict[str, Any]]) -> dict[str, float]:
    """The median over launches of each known phase of a job."""
    whole = [fact | {"staying_seconds": fact["wall_seconds"] - fact.get("meeting_seconds", 0)} for fact in facts]
    known = {words: [fact[part] for fact in whole if part in fact] for part, words in PARTS.items()}
    return {words: statistics.median(seconds) for words, seconds in known.items() if seconds}


def _counted(launches: int) -> str:
    return "1 launch" if launches == 1 else f"{launches} launches"


def duration(seconds: float) -> str:
    """Seconds in words, such as `20 min`."""
    if seconds >= 7200:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def _at_a_time(nodes: int) -> str:
    return f"up to {nodes} nodes at a time" if nodes > 1 else "one node"


def _node_hours(seconds: float) -> str:
    return f"{seconds / 3600:.2g} node-hours"
