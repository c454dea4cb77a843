"""Threads of rank 0."""

from dataclasses import dataclass
from typing import Annotated

from crossover.design.task_farm import TaskFarm


@dataclass(frozen=True)
class Options:
    """Its options."""

    threads_per_engine: Annotated[int, "threads that stand for an engine"] = 1


FARM = TaskFarm(place=1000, arms={"NAME": {}}, options=Options, packages=("psutil",), one_host=True)
