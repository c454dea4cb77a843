"""The process pool of mpi4py. Its idle workers poll, so it shares a launch with no other rival."""

from dataclasses import dataclass
from typing import Annotated

from crossover.design.farms import TaskFarm


@dataclass(frozen=True)
class Options:
    """Its options."""

    backoff_seconds: Annotated[
        float, "how long client and workers sleep between two looks for messages; mpi4py's own is a millisecond"
    ] = 0.001
    chunk_tasks: Annotated[
        int, "tasks that a worker gets at a time, by `map` with `chunksize`; with 0, each is submitted by itself"
    ] = 0


FARM = TaskFarm(
    place=30,
    arms={
        "mpi4py.futures": {"alone": True},
        "mpi4py.futures backoff 0": {"backoff_seconds": 0.0, "alone": True},
        "mpi4py.futures chunk 8": {"chunk_tasks": 8, "alone": True},
    },
    options=Options,
    snippet="""\
from mpi4py.futures import MPIPoolExecutor

# Start it by: mpiexec -n 1 python -m mpi4py.futures
with MPIPoolExecutor(workers) as executor:
    results = list(executor.map(function, items))
""",
)
