"""Floods of tasks that echo an array, to task farms."""

from dataclasses import dataclass, replace
from typing import Annotated

from crossover.design import farming, settings
from crossover.design.cell import Axis, Metric
from crossover.design.experiments import ANY, Experiment, Rung

METRICS = (
    Metric("submission", "tasks/s", "higher"),
    Metric("round trip", "tasks/s", "higher"),
    Metric("payload one way", "MB/s", "higher"),
)


@dataclass(frozen=True, kw_only=True)
class Settings(farming.FixedEngines):
    """Its settings."""

    sizes_bytes: Annotated[settings.Points, "The axis, sizes of the array in bytes."]
    tasks: Annotated[settings.Count, "The number of tasks in one flood."] = 128


QUICK = Settings(
    sizes_bytes=(10, 1000, 100000),
    arms=("leastload", "pure", *farming.POOLS),
    budget_seconds=5,
    **farming.QUICK,
)
STANDARD = replace(
    QUICK,
    sizes_bytes=settings.decades(10, 1_000_000, 1),
    arms=(*farming.LASTING, *farming.ALONE),
    ceilings=(farming.BOUND,),
    budget_seconds=12,
    **farming.STANDARD,
)
PAPER = replace(
    STANDARD,
    sizes_bytes=(10, 100, 1000, 10000, 100000, 500000, 1000000, 2000000, 4000000),
    arms=(
        *(*farming.LASTING, *farming.SCHEDULERS, *farming.ALONE),
        *("leastload over ssh", "leastload msgpack over ssh", "pure over ssh"),
    ),
    engines=4,
    budget_seconds=80,
    **farming.PAPER,
)
SMOKE = replace(
    QUICK, sizes_bytes=(10, 10000), arms=("leastload", "pure"), reference="leastload", launches=1, budget_seconds=2
)

EXPERIMENT = Experiment(
    title="Task farms: tasks that carry data",
    about="A client submits a flood of tasks to a farm of engines. Each task has an array of its own as "
    "argument and result.",
    subject="Tasks that carry an array",
    action="run tasks that carry an array",
    library="Task farm",
    place=70,
    default="concurrent.futures",
    axis=Axis("array size", "bytes"),
    metrics=METRICS,
    leading_metric="payload one way",
    keys={"work": ["echo"], "flood_tasks": ANY, "engines": ANY, **farming.SENDERS},
    tiers=settings.Tiers(SMOKE, QUICK, STANDARD, PAPER),
    rungs=tuple(
        Rung(place, f"{name}, per task", arm, {"work": "echo"})
        for place, name, arm in ((90, "ipyparallel", "leastload"), (100, "Dask", "dask"), (110, "Foolscap", "twisted"))
    ),
)
