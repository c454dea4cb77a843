"""A user's own function, on task farms and in a loop."""

from dataclasses import dataclass
from typing import Annotated

from crossover.design import farming, settings
from crossover.design.cell import Axis, Metric
from crossover.design.experiment import ANY, Experiment

METRICS = (Metric("round trip", "tasks/s", "higher"),)


@dataclass(frozen=True, kw_only=True)
class Settings(farming.FixedEngines, settings.OfUser):
    """Its settings."""

    item_counts: Annotated[
        settings.Points, "The axis, items in a call. `crossover try` chooses them by the function's duration."
    ]
    placements: Annotated[settings.Some, settings.OneOf(("node", "nodes")), settings.WHERE] = ("node",)


QUICK = Settings(
    item_counts=(1, 8, 64),
    arms=("loop", "threads", "concurrent.futures", "multiprocessing.Pool map", "joblib"),
    reference="loop",
    rivals_per_launch=8,
    launches=4,
    fewest_rounds=2,
    # Short, so that all arms of a round see the same speed of a core that others share.
    block_seconds=0.01,
    rounds=settings.Rounds(at_most=200),
    target_width=0.05,
    budget_seconds=8,
    refine_metric="round trip",
)

EXPERIMENT = Experiment(
    title="Your function",
    about="A function of yours, called for each of several items: in a loop, by threads, and by pools of processes "
    "that are running already.",
    subject="Your function",
    action="run your function",
    library="Task farm",
    place=58,
    asked=1,
    axis=Axis("items", "items"),
    metrics=METRICS,
    keys={"work": ["user"], "engines": ANY, **farming.SENDERS},
    tiers=settings.Tiers.of(QUICK),
)
