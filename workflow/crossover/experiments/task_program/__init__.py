"""Whole programs that start a pool, run tasks on it, and end it: from how many tasks on does a pool pay?"""

from dataclasses import dataclass, replace
from typing import Annotated

from crossover.design import farming, settings
from crossover.design.cell import Axis, Metric
from crossover.design.experiments import ANY, Experiment

METRICS = (Metric("whole program", "s", "lower"),)
DURATION_US = 10_000
"""Of a task that spins: shorter than the start of a pool of processes, and longer than it takes to send."""


ARMS = ("loop", "threads", "concurrent.futures", "multiprocessing.Pool", "joblib", "interpreters")


@dataclass(frozen=True, kw_only=True)
class Settings(farming.FixedEngines):
    """Its settings."""

    tasks: Annotated[settings.Points, "The axis, the number of tasks of a program."]
    work: Annotated[
        settings.Some,
        settings.Curves.valued("work", ("spin", "empty")),
        f"What a task does, one curve each. `spin` is work that an idle core does in {DURATION_US / 1000:g} ms; it is "
        "left out if workers outnumber cores. `empty` tasks leave the start and the end of the pool alone.",
    ]
    arms: Annotated[settings.Arms, settings.OneOf(ARMS), "The loop, and the pools that a program starts by itself."]
    placements: Annotated[
        settings.Some, settings.OneOf(("node",)), "Where the workers are. `node`: on the host of the program."
    ] = ("node",)


QUICK = Settings(
    tasks=(8, 64),
    work=("spin",),
    arms=ARMS[:-1],
    reference=ARMS[0],
    rivals_per_launch=8,
    launches=3,
    fewest_rounds=1,
    block_seconds=0.001,
    rounds=settings.Rounds(at_most=100),
    target_width=0.05,
    budget_seconds=4,
)
STANDARD = replace(
    QUICK,
    tasks=(1, 4, 16, 64, 256),
    work=("spin", "empty"),
    arms=ARMS,
    budget_seconds=40,
    target_width=0.02,
    **settings.AT_STANDARD,
)
PAPER = replace(STANDARD, engines=4, budget_seconds=100, target_width=0.01, **settings.AT_PAPER)
SMOKE = replace(QUICK, tasks=(1, 8), arms=ARMS[:2], launches=1, budget_seconds=1)

EXPERIMENT = Experiment(
    title="Task farms: when a pool pays",
    about="A program starts a pool, maps a function over some items, and ends. A loop needs no pool.",
    subject="A program with a pool",
    action="run a program once",
    library="Task farm",
    place=59,
    default="loop",
    synonyms={
        "threads or processes": "threads or concurrent.futures",
        "processes or threads": "concurrent.futures or threads",
        "threads vs processes": "threads or concurrent.futures",
        "ThreadPoolExecutor": "threads",
        **dict.fromkeys(("starting a pool", "start a pool", "pool start", "startup"), "whole program"),
    },
    axis=Axis("tasks", "tasks"),
    metrics=METRICS,
    keys={"work": ["spin", "empty"], "duration_us": ANY, "engines": ANY, "cores": ANY},
    packages=("joblib",),
    tiers=settings.Tiers(SMOKE, QUICK, STANDARD, PAPER),
)
