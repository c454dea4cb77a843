"""`multiprocessing.Pool`, the older process pool of the standard library."""

from dataclasses import dataclass
from typing import Annotated

from crossover.design.farms import TaskFarm


@dataclass(frozen=True)
class Options:
    """Its options."""

    chunk_tasks: Annotated[
        int,
        "tasks that a worker gets at a time, by `map_async` with `chunksize`; with 0, each is submitted by itself",
    ] = 0
    map: Annotated[bool, "by `map_async`, which then chooses the chunks: four for each worker"] = False


FARM = TaskFarm(
    place=22,
    arms={
        "multiprocessing.Pool": {},
        "multiprocessing.Pool map": {"map": True},
        "multiprocessing.Pool chunk 8": {"chunk_tasks": 8},
    },
    options=Options,
    one_host=True,
    snippet_arms=("multiprocessing.Pool", "multiprocessing.Pool map"),
    snippet="""\
from multiprocessing import Pool

with Pool(workers) as pool:
    results = pool.map(function, items)
""",
    is_program=True,
)
