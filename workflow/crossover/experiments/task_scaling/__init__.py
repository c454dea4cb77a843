"""The rates and efficiencies of task farms by their number of engines."""

from dataclasses import dataclass, replace
from typing import Annotated

from crossover.design import farming, settings
from crossover.design.cell import Axis, Metric
from crossover.design.experiments import ANY, Experiment

METRICS = (Metric("round trip", "tasks/s", "higher"), Metric("efficiency", "", "higher"))
RIVALS = ("leastload", "pure", "twisted", "concurrent.futures", "dask")
PLACEMENTS = ("node", "nodes")


@dataclass(frozen=True, kw_only=True)
class Settings(farming.EngineCounts):
    """Its settings. Engines differ between launches."""

    engine_counts: Annotated[
        farming.Counts,
        settings.ONE_EACH,
        settings.MinLen(1),
        f"The axis, engines of each farm, each number in separate launches. {farming.CROWD}",
    ]
    tasks: Annotated[settings.Count, "The number of empty tasks in one flood."]
    work: farming.Work
    durations_us: Annotated[settings.Points, "Durations of the tasks that take time, in microseconds, one curve each."]
    tasks_per_engine: Annotated[settings.Count, "Tasks that take time in one flood, for each engine."] = 16
    placements: Annotated[
        settings.Names,
        settings.OneOf(PLACEMENTS),
        "Where a farm's client and its engines are, as in `task_latency`. With `[]` nothing is measured.",
    ]


QUICK = Settings(
    engine_counts=(1, 2),
    tasks=32,
    work=("sleep",),
    durations_us=(10000,),
    arms=("leastload", "pure"),
    placements=(),
    budget_seconds=2,
    **farming.QUICK | {"rivals_per_launch": 2, "reference": "leastload"},
)
STANDARD = replace(
    QUICK,
    engine_counts=(1, 2, 4),
    tasks=128,
    work=("sleep", "spin"),
    arms=RIVALS,
    ceilings=(farming.BOUND,),
    placements=PLACEMENTS,
    budget_seconds=8,
    **farming.STANDARD,
)
PAPER = replace(
    STANDARD,
    engine_counts=(1, 2, 4, 8, 16, 32),
    durations_us=(1000, 10000, 100000),
    budget_seconds=25,
    **farming.PAPER | {"rivals_per_launch": 1},
)
SMOKE = replace(QUICK, placements=PLACEMENTS, launches=1)

EXPERIMENT = Experiment(
    title="Task farms: scaling with the number of engines",
    about="Empty tasks, and tasks that take time, on farms with more and more engines.",
    subject="Tasks for many engines",
    action="feed many engines",
    library="Task farm",
    place=90,
    default="concurrent.futures",
    axis=Axis("engines", "engines"),
    metrics=METRICS,
    keys={
        "work": ["empty", "sleep", "spin"],
        "flood_tasks": ANY,
        "duration_us": ANY,
        "tasks_per_engine": ANY,
        "cores": ANY,
        **farming.SENDERS,
    },
    tiers=settings.Tiers(SMOKE, QUICK, STANDARD, PAPER),
)
