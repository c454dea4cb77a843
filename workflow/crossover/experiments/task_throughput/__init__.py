"""Floods of tasks that echo an array, to task farms."""

from crossover.design import kinds
from crossover.design.axis import Axis
from crossover.design.cell import Metric
from crossover.design.experiment import ANY, Experiment, Rung
from crossover.design.families import farming

METRICS = (
    Metric("submission", "tasks/s", "higher"),
    Metric("round trip", "tasks/s", "higher"),
    Metric("payload one way", "MB/s", "higher"),
)

EXPERIMENT = Experiment(
    title="Task farms: tasks that carry data",
    about="A client submits a flood of tasks to a farm of engines. Each task has an array of its own as "
    "argument and result.",
    subject="Tasks that carry an array",
    action="run tasks that carry an array",
    library="Task farm",
    place=70,
    asked=80,
    axis=Axis("array size", "bytes"),
    metrics=METRICS,
    **farming.LAUNCH,
    keys={"work": ["echo"], "flood_tasks": ANY, "engines": ANY, **farming.SENDERS},
    settings={
        "sizes_bytes": kinds.axis(
            "The axis, sizes of the array in bytes.",
            {
                "smoke": [10, 10000],
                "quick": [10, 100000],
                "standard": kinds.decades(10, 1_000_000, 1),
                "paper": [10, 100, 1000, 10000, 100000, 500000, 1000000, 2000000, 4000000],
            },
        ),
        "tasks": kinds.whole("The number of tasks in one flood.", 128),
        **farming.rivals(
            {
                "smoke": ["leastload", "pure"],
                "quick": ["leastload", "pure", *farming.POOLS],
                "standard": [*farming.LASTING, *farming.ALONE],
                "paper": [
                    *(*farming.LASTING, *farming.SCHEDULERS, *farming.ALONE),
                    *("leastload over ssh", "leastload msgpack over ssh", "pure over ssh"),
                ],
            },
            ceilings=[farming.BOUND],
        ),
        **farming.engines(),
        "placements": kinds.placements(["node", "nodes"], ["node", "nodes"]),
        **farming.sampling(budget_seconds={"smoke": 2, "quick": 10, "standard": 12, "paper": 80}),
        **kinds.refinement(METRICS, "payload one way", farming.LATE),
    },
    rungs=tuple(
        Rung(place, f"{name}, per task", arm, {"work": "echo"})
        for place, name, arm in ((90, "ipyparallel", "leastload"), (100, "Dask", "dask"), (110, "Foolscap", "twisted"))
    ),
)
