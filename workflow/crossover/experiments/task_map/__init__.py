"""Tasks that take time, on task farms: from which duration is a farm's overhead negligible?"""

from dataclasses import dataclass, replace
from typing import Annotated

from crossover.design import farming, settings
from crossover.design.cell import Axis, Metric
from crossover.design.experiments import ANY, Experiment

METRICS = (Metric("efficiency", "", "higher", levels=(0.5, 0.95)), Metric("round trip", "tasks/s", "higher"))
LOOP = "loop"
"""No farm: it takes part where tasks compute, and tells from which duration several engines beat it."""
BUSY = 0.95
"""The efficiency from which a farm's overhead is negligible."""


@dataclass(frozen=True, kw_only=True)
class Settings(farming.EngineCounts):
    """Its settings."""

    durations_us: Annotated[settings.Points, "The axis, average durations of a task in microseconds."]
    spin_durations_us: Annotated[settings.Numbers, "The same for tasks that spin, if not all of these."] = ()
    work: farming.Work
    durations: Annotated[
        settings.Some,
        settings.Curves.valued("durations", ("equal", "skewed")),
        "Whether all tasks last equally long (`equal`), or have heavy-tailed durations of the same sum "
        "(`skewed`). One curve each.",
    ]
    tasks_per_engine: Annotated[
        settings.Count,
        "Tasks in one flood for each engine. With fewer tasks, the start and the end are a larger part of the "
        "flood, which lowers the efficiency. The published notebook has 16.",
    ] = 16
    engine_counts: Annotated[
        farming.Counts,
        settings.ONE_EACH,
        settings.MinLen(1),
        f"Engines of each farm, one curve each, in separate launches. {farming.CROWD}",
    ]


QUICK = Settings(
    # At 100 ms, half of the time went to tasks in which all farms are alike.
    durations_us=(1000, 10000, 30000),
    # From which duration do two workers beat a loop?
    spin_durations_us=(100, 1000),
    work=("sleep", "spin"),
    durations=("equal",),
    engine_counts=(2,),
    arms=("leastload", "pure", *farming.POOLS, LOOP),
    # One task more or less changes the efficiency by less than a tenth.
    tasks_per_engine=10,
    budget_seconds=7,
    # One launch has all arms.
    rivals_per_launch=5,
    # A round with tasks of 30 ms takes two seconds.
    **farming.QUICK | {"launches": 5, "fewest_rounds": 2},
)
STANDARD = replace(
    QUICK,
    durations_us=settings.decades(1000, 100_000, 2),
    spin_durations_us=(),
    tasks_per_engine=16,
    arms=(*farming.LASTING, *farming.THREADS, LOOP, *farming.ALONE),
    budget_seconds=22,
    **farming.STANDARD,
)
PAPER = replace(
    STANDARD,
    durations_us=settings.decades(1000, 1_000_000, 2),
    durations=("equal", "skewed"),
    engine_counts=(4,),
    arms=(*farming.LASTING, *farming.THREADS, LOOP, *farming.SCHEDULERS, *farming.ALONE, "dask unqueued"),
    budget_seconds=380,
    **farming.PAPER,
)
SMOKE = replace(
    QUICK,
    work=("sleep",),
    tasks_per_engine=4,
    arms=("leastload", "pure"),
    reference="leastload",
    launches=1,
    budget_seconds=6,
)

EXPERIMENT = Experiment(
    title="Task farms: how long a task should last",
    about="Tasks that take time, several for each engine of a farm. The efficiency is the share of the engines' time "
    "spent in tasks.",
    subject="Longer tasks on a farm",
    action="map over longer tasks",
    library="Task farm",
    place=80,
    default="concurrent.futures",
    synonyms=dict.fromkeys(("how small", "how short", "minimum task", "granularity"), "task duration 95%"),
    axis=Axis("task duration", "µs"),
    metrics=METRICS,
    keys={
        "work": ["sleep", "spin"],
        "durations": ["equal", "skewed"],
        "engines": ANY,
        "tasks_per_engine": ANY,
        "cores": ANY,
        **farming.SENDERS,
    },
    tiers=settings.Tiers(SMOKE, QUICK, STANDARD, PAPER),
)
