"""A user's own function, on task farms and in a loop."""

import re
from dataclasses import dataclass
from typing import Annotated, ClassVar

from crossover.design import farming, settings
from crossover.design.cell import Axis, Metric
from crossover.design.config import OfUser
from crossover.design.experiments import ANY, Experiment

METRICS = (Metric("round trip", "tasks/s", "higher"), Metric("whole program", "s", "lower"))
RUNNING, PROGRAM = "running", "program"


@dataclass(frozen=True, kw_only=True)
class Settings(farming.FixedEngines, OfUser):
    """Its settings."""

    needs: ClassVar = {
        "items": "items(count), which returns a list of arguments",
        "task": "task(item), which runs on each",
    }

    item_counts: Annotated[
        settings.Points, "The axis, items in a call. `crossover try` chooses them by the function's duration."
    ]
    pools: Annotated[
        settings.Some,
        settings.Curves.valued("pool", (RUNNING, PROGRAM)),
        "`running`: the pool has started before the first item. `program`: a whole program, from no pool to the pool's "
        "end; only on one host, for the farms that need no other process, and where tasks share no argument.",
    ] = (RUNNING, PROGRAM)
    library_threads: Annotated[
        settings.Some,
        settings.Curves.valued("library_threads", ("as set", "1")),
        settings.ONE_EACH,
        "Threads inside libraries such as BLAS, each in separate launches: `as set` by the variables of the run's "
        "command, or `1` for each worker.",
    ] = ("as set",)
    functions: Annotated[
        settings.Some,
        settings.Curves.valued("function", ("module", "notebook")),
        "Where the function is defined. `notebook`: where no worker can import it, as in a notebook.",
    ] = ("module",)
    placements: Annotated[settings.Some, settings.OneOf(("node", "nodes")), settings.WHERE] = ("node",)

    @property
    def shares(self) -> bool:
        """Whether tasks get a second argument, which all share."""
        return bool(re.search(r"^def shared\b", self.sources.get(self.file, ""), re.MULTILINE))

    @property
    def threads_of_libraries(self) -> str:
        """As this launch has them."""
        return self.library_threads[0]


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
)

EXPERIMENT = Experiment(
    title="Your function",
    about="A function of yours, called for each of several items: in a loop, by threads, and by pools of processes. "
    "The pool is running already, or a whole program starts and ends it.",
    subject="Your function",
    action="run your function",
    library="Task farm",
    place=58,
    default="loop",
    synonyms={"my function": "your function"},
    axis=Axis("items", "items"),
    metrics=METRICS,
    chosen_by={"round trip": "running pool", "whole program": "whole program"},
    keys={
        "work": ["user"],
        "pool": [RUNNING, PROGRAM],
        "library_threads": ["as set", "1"],
        "shared": ["sent", "kept"],
        "function": ["module", "notebook"],
        "engines": ANY,
        **farming.SENDERS,
    },
    tiers=settings.Tiers.of(QUICK),
)
