"""The process pool of the standard library."""

from dataclasses import dataclass
from typing import Annotated

from crossover.design.farms import TaskFarm


@dataclass(frozen=True)
class Options:
    """Its options."""

    chunk_tasks: Annotated[
        int,
        "tasks that a worker gets at a time, by `map` with `chunksize`; with 0, each is submitted by itself",
    ] = 0


FARM = TaskFarm(
    place=20,
    arms={"concurrent.futures": {}, "concurrent.futures chunk 8": {"chunk_tasks": 8}},
    options=Options,
    one_host=True,
    snippet="""\
from concurrent.futures import ProcessPoolExecutor

with ProcessPoolExecutor(workers) as executor:
    results = list(executor.map(function, items))
""",
    is_program=True,
)
