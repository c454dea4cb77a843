"""joblib, with its processes (loky) or with threads."""

from dataclasses import dataclass
from typing import Annotated

from crossover.design.farms import TaskFarm


@dataclass(frozen=True)
class Options:
    """Its options."""

    batch_tasks: Annotated[
        int,
        "tasks that a worker gets at a time (`batch_size`); with 0, joblib's default, it adapts them until a batch "
        "takes a fifth of a second or more",
    ] = 0
    threads: Annotated[bool, "threads of the client instead of processes (`backend`)"] = False


FARM = TaskFarm(
    place=24,
    arms={"joblib": {}, "joblib batch 1": {"batch_tasks": 1}, "joblib threads": {"threads": True}},
    options=Options,
    packages=("joblib",),
    one_host=True,
    snippet="""\
from joblib import Parallel, delayed

results = Parallel(n_jobs=workers)(delayed(function)(item) for item in items)
""",
    is_program=True,
)
