"""Tasks that take time, on task farms: from which duration is a farm's overhead negligible?"""

from crossover.design import kinds
from crossover.design.axis import Axis
from crossover.design.cell import Metric
from crossover.design.experiment import ANY, Experiment
from crossover.design.families import farming

METRICS = (Metric("efficiency", "", "higher", levels=(0.5, 0.95)), Metric("round trip", "tasks/s", "higher"))
BUSY = 0.95
"""The efficiency from which a farm's overhead is negligible."""

EXPERIMENT = Experiment(
    title="Task farms: how long a task should last",
    about="Tasks that take time, several for each engine of a farm. The efficiency is the share of the engines' time "
    "spent in tasks.",
    subject="Longer tasks on a farm",
    action="map over longer tasks",
    library="Task farm",
    place=80,
    asked=70,
    axis=Axis("task duration", "µs"),
    metrics=METRICS,
    **farming.LAUNCH,
    keys={
        "work": ["sleep", "spin"],
        "durations": ["equal", "skewed"],
        "engines": ANY,
        "tasks_per_engine": ANY,
        "cores": ANY,
        **farming.SENDERS,
    },
    settings={
        "durations_us": kinds.axis(
            "The axis, average durations of a task in microseconds.",
            {
                "quick": [1000, 10000, 100000],
                "standard": kinds.decades(1000, 100_000, 2),
                "paper": kinds.decades(1000, 1_000_000, 2),
            },
        ),
        "work": farming.work(),
        "durations": kinds.values_of(
            "durations",
            "Whether all tasks last equally long (`equal`), or have heavy-tailed durations of the same sum "
            "(`skewed`). One curve each.",
            ["equal", "skewed"],
            {"quick": ["equal"], "standard": ["equal"], "paper": ["equal", "skewed"]},
        ),
        "tasks_per_engine": kinds.whole(
            "Tasks in one flood for each engine. With fewer tasks, the start and the end are a larger part of the "
            "flood, which lowers the efficiency. The published notebook has 16.",
            {"smoke": 4, "quick": 16, "standard": 16, "paper": 16},
        ),
        "engine_counts": farming.engine_counts(
            "Engines of each farm, one curve each, in separate launches.", {"quick": [2], "standard": [2], "paper": [4]}
        ),
        **farming.rivals(
            {
                "smoke": ["leastload", "pure"],
                "quick": ["leastload", "pure", *farming.POOLS],
                "standard": [*farming.LASTING, *farming.ALONE],
                "paper": [*farming.LASTING, *farming.SCHEDULERS, *farming.ALONE, "dask unqueued"],
            },
            ceilings=[],
        ),
        "placements": kinds.placements(["node", "nodes"], ["node", "nodes"]),
        # A round with tasks of 100 ms takes ten seconds.
        **farming.sampling({"smoke": 6, "quick": 18, "standard": 22, "paper": 380}, {**kinds.FEW, "quick": 2}),
        **kinds.refinement(METRICS),
    },
)
