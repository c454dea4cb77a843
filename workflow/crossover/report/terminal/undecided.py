"""The open pairs of a run, and the launches that would probably decide some of them."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from crossover.errors import CrossoverError
from crossover.planning.plan import SECOND_SWEEP
from crossover.report.base import numbers
from crossover.report.base.tables import Row, Tables, load
from crossover.report.sentences.winners import OPEN, Pair, pairs

TIMES = 2
"""The factor by which launches are multiplied: twice the time of an experiment."""


@dataclass(frozen=True)
class Replication:
    """More launches for a run."""

    open: int
    """The number of open pairs in the run."""
    decided: int
    """The number of them that more launches would probably decide."""
    launches: dict[str, int] = field(default_factory=dict)
    """The launches of each heat that each experiment would have then."""
    seconds: float = 0.0
    """The expected duration, from the launches that exist."""


def replication(
    tables: Tables, every: Sequence[Pair], experiments: Collection[str] = (), count: int | None = None
) -> Replication:
    """Twice the launches of the experiments with pairs that this would decide, or of the `experiments` named.

    With a `count`, as many launches of each heat of those named.
    """
    left = [pair for pair in every if pair.is_open]
    near = [pair for pair in left if _near(pair) and (not experiments or pair.panel.experiment in experiments)]
    chosen = sorted(set(experiments) or {pair.panel.experiment for pair in near})
    own = {name: [row for row in tables.launches if row["experiment"] == name] for name in chosen}
    present = {name: _of_each_heat(rows) for name, rows in own.items()}
    launches = {name: count or TIMES * heat for name, heat in present.items()}
    seconds = {name: sum(row["wall_seconds"] or 0.0 for row in rows) for name, rows in own.items()}
    longer = sum(max(0.0, launches[name] / present[name] - 1) * seconds[name] for name in chosen)
    return Replication(len(left), len(near), launches, longer)


MOST = 400
"""The most launches of a heat that can be wanted: at tier paper, larger numbers belong to the second sweep."""


def wanted(results: Path, leads: Mapping[str, str], experiments: Collection[str], count: int | None) -> Replication:
    """The `replication` of the run in `results`.

    Raises CrossoverError if the run has no such experiment, or no experiment with a pair that it would decide, or for a
    count without an experiment, or above MOST.
    """
    tables = load(results)
    if count is not None and not experiments:
        raise CrossoverError(f"--launches needs an experiment; name one: {numbers.listed(tables.experiments)}")
    if count is not None and not 1 <= count <= MOST:
        raise CrossoverError(f"--launches {count}: must be from 1 to {MOST}")
    if unknown := sorted(set(experiments) - set(tables.experiments)):
        raise CrossoverError(
            f"{results}: has no experiment {numbers.listed(unknown)}; it has {numbers.listed(tables.experiments)}"
        )
    found = replication(tables, pairs(tables.all_leading(leads)), experiments, count)
    if not found.launches:
        raise CrossoverError(
            f"{found.open} pairs are open, but {TIMES} times the launches would decide none of them; to narrow "
            f"the intervals of an experiment all the same, name it: {numbers.listed(tables.experiments)}"
        )
    return found


def _of_each_heat(rows: Sequence[Row]) -> int:
    """The number of launches of each heat in the first sweep. Launches of one heat have equal settings."""
    first = [(row["placement"], row["settings"]) for row in rows if row["launch"] <= SECOND_SWEEP]
    return max(map(first.count, first), default=1)


def _near(pair: Pair) -> bool:
    """Whether more launches would probably decide half of a pair's undecided points: intervals shrink with the square
    root of their number."""
    if pair.verdict == "not replicated":
        return True
    undecided = [cell for cell in pair.cells if pair.winner(cell) == OPEN and cell["low"] is not None]
    margins = [(abs(math.log(cell["ratio"])), math.log(cell["high"] / cell["low"]) / 2) for cell in undecided]
    decided = sum(distance * math.sqrt(TIMES) > margin for distance, margin in margins)
    return decided * 2 >= len(undecided) > 0
