"""How far to trust a run: its possible bias and precision, a busy machine, a smoke run."""

from collections.abc import Sequence
from statistics import median

from crossover.design.experiments import declared
from crossover.planning import receipt
from crossover.records.rows import Launch, Rank
from crossover.report.text import numbers
from crossover.report.text.tables import Tables


def bias(tables: Tables) -> str:
    """The possible bias of the metrics that users choose by, beyond chance: that of the median, and the largest."""
    known = {
        (row.experiment, row.metric): row.smallest_effect
        for row in sorted(tables.sensitivity, key=lambda row: row.smallest_effect or 0)
        if row.smallest_effect is not None and row.metric in declared()[row.experiment].questions
    }
    if not known:
        return "The possible bias is unknown: no null arm was replicated."
    (experiment, metric), most = max(known.items(), key=lambda item: item[1])
    if most == 1:
        return "Equal arms showed no bias."
    usually = f"by {numbers.percent(median(known.values()) - 1)} in the median metric, " if len(known) > 1 else ""
    name = f"{experiment}, {metric}" if len(declared()[experiment].questions) > 1 else experiment
    return f"Equal arms may differ {usually}by up to {numbers.percent(most - 1)} in {name}."


BUSY = 2
"""The load of a host, in units of its logical processors, from which it is called busy at the start of a run."""


def busy(launches: Sequence[Launch], ranks: Sequence[Rank]) -> str:
    """That other work had the hosts of the first launch, whose load no earlier launch caused; empty otherwise."""
    started = [row for row in launches if row.started_utc]
    if not started:
        return ""
    first = min(started, key=lambda row: row.started_utc)
    own = [rank for rank in ranks if (rank.experiment, rank.placement, rank.launch) == first.name]
    loads = [(rank.load or 0.0, rank.logical_cpus or 1) for rank in own]
    load, cores = max(((load, cores) for load, cores in loads if load > BUSY * cores), default=(0.0, 1))
    if not load:
        return ""
    return (
        f"The machine was busy: load {numbers.significant(load, 2)} on {numbers.counted(cores, 'core')} at the start."
    )


def tier(launches: Sequence[Launch]) -> str:
    """The tiers of the launches, by the folder of their receipts: one, or several as a list."""
    return numbers.listed(receipt.tiers(launches)) or "unknown"


def is_smoke(launches: Sequence[Launch]) -> bool:
    """Whether the launches are those of tier smoke, which tests the workflow."""
    return receipt.tiers(launches) == ["smoke"]
