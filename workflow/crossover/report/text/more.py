"""More launches for a run: those that would settle open points, and their time."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from crossover.design.experiments import declared
from crossover.errors import CrossoverError
from crossover.records.outcome import HORIZON, OPEN
from crossover.records.rows import Choice
from crossover.report.text import holes, numbers
from crossover.report.text.tables import Tables

TIMES = 2
"""The factor by which launches are multiplied: twice the time of an experiment."""
MOST = 400
"""The most launches of a group of rivals that can be wanted: at tier paper, the numbers of launches end there."""
REPLICATED = 3
"""The launches to plan for a point that a single launch measured."""


@dataclass(frozen=True)
class Replication:
    """More launches for a run."""

    open: int
    """The number of open points in the run."""
    settled: int
    """The number of them that the launches would settle, whatever the means turn out to be."""
    launches: dict[str, int] = field(default_factory=dict)
    """The launches of each group of rivals that each experiment would have then."""
    seconds: float = 0.0
    """The expected duration, from the launches that exist."""


def replication(tables: Tables, experiments: Collection[str] = (), count: int | None = None) -> Replication:
    """Twice the launches of the experiments with points that this would settle, or of the `experiments` named.

    With a `count`, as many launches of each group of rivals in those named.
    """
    left = [row for row in tables.choices if row.verdict == OPEN]
    near = [row for row in left if _near(row) and (not experiments or row.experiment in experiments)]
    chosen = sorted(set(experiments) or {row.experiment for row in near} | _once(tables))
    launches = {name: count or TIMES * _of_each_heat(tables, name) for name in chosen}
    seconds = sum(_seconds(tables, name, wanted) for name, wanted in launches.items())
    return Replication(len(left), len(near), launches, seconds)


def wanted(tables: Tables, experiments: Collection[str], count: int | None) -> Replication:
    """The `replication` of a run.

    Raises CrossoverError if the run has no such experiment, or no experiment with a point that it would settle, or for
    a count without an experiment, or above MOST.
    """
    if count is not None and not experiments:
        raise CrossoverError(f"--launches needs an experiment; name one: {numbers.listed(tables.experiments)}")
    if count is not None and not 1 <= count <= MOST:
        raise CrossoverError(f"--launches {count}: must be from 1 to {MOST}")
    if unknown := sorted(set(experiments) - set(tables.experiments)):
        raise CrossoverError(
            f"the run has no experiment {numbers.listed(unknown)}; it has {numbers.listed(tables.experiments)}"
        )
    found = replication(tables, experiments, count)
    if not found.launches:
        raise CrossoverError(
            f"{numbers.counted(found.open, 'point')} of the run are open, but {TIMES} times the launches would surely "
            "settle none of them; to narrow the intervals of an experiment all the same, name it: "
            f"{numbers.listed(tables.experiments)}"
        )
    return found


def remedy(tables: Tables, experiment: str, left: Sequence[tuple[int, int | None]]) -> str | None:
    """The command that may decide open points, each given by its launches and those that it needs; None without one."""
    if not left:
        return None
    planned = _of_each_heat(tables, experiment)
    # If launches failed, the same share of the new ones may fail.
    counts = [math.ceil(planned * needed / behind) if needed else HORIZON * planned for behind, needed in left]
    count = max(REPLICATED, planned + 1) if max(behind for behind, _ in left) < 2 else max(counts)
    seconds = _seconds(tables, experiment, count)
    if file := users_file(tables, experiment):
        # As a trial measures all of its launches again.
        minutes = math.ceil(seconds * count / max(1, count - planned) / 60)
        return f"more time may decide it: crossover try {file} --minutes {minutes}"
    took = numbers.duration(seconds)
    return f"more launches may decide it: crossover more {experiment} --launches {count} (about {took})"


def at_point(tables: Tables, row: Choice, x: float) -> str:
    """The command that measures one more point of a question in a folder of its own, with its longest duration."""
    if file := users_file(tables, row.experiment):
        return f"to measure at {numbers.quantity(x, row.axis_unit)}: crossover try {file} --counts {max(1, round(x))}"
    took = sum(own.wall_seconds or 0.0 for own in tables.launches if own.experiment == row.experiment)
    at = numbers.typed(x, row.axis_unit)
    command = f"snakemake --profile {holes.profile(tables)} --config at={at} results=results-{at} -- {row.experiment}"
    return f"to measure at {numbers.quantity(x, row.axis_unit)} (at most {numbers.duration(took)}): {command}"


def users_file(tables: Tables, experiment: str) -> str:
    """The name of the user's file that an experiment has measured; empty for all other experiments."""
    known = declared().get(experiment)
    every = (row.settings or {} for row in tables.launches if row.experiment == experiment)
    return next((str(own["file"]) for own in every if own.get("file")), "") if known and known.of_user else ""


def _seconds(tables: Tables, experiment: str, launches: int) -> float:
    """The duration of the launches that an experiment lacks, from those that exist, in all placements."""
    present = sum(row.wall_seconds or 0.0 for row in tables.launches if row.experiment == experiment)
    return float(present * max(0.0, launches / _of_each_heat(tables, experiment) - 1))


def _of_each_heat(tables: Tables, experiment: str) -> int:
    """How many launches repeat each other at most: those with equal settings."""
    alike = [(row.placement, row.settings) for row in tables.launches if row.experiment == experiment]
    return max(map(alike.count, alike), default=1)


def _near(row: Choice) -> bool:
    """Whether more launches would settle an open point, whatever the means turn out to be."""
    return bool(0 < (row.launches_needed or 0) <= TIMES * row.launches)


def _once(tables: Tables) -> set[str]:
    """The experiments with a question of which no point has a choice, because a single launch measured it."""
    asked = {row.experiment for row in tables.choices}
    return {row.experiment for row in tables.ratios if row.verdict == OPEN and row.launches < 2} - asked
