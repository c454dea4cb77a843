"""Python's own process pool: its workers are children of rank 0 (start method `spawn`), without a network.

The ranks reserved for its engines do nothing.
"""

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import util
from multiprocessing.synchronize import Semaphore, SemLock
from typing import Any

from crossover.farms.concurrent_futures import Options
from crossover.measure.farms import ExecutorFarm, Task
from crossover.measure.farms.support.server import START_SECONDS
from crossover.measure.farms.support.tasks import echo
from crossover.measure.processes.ending import die_with_parent
from crossover.measure.ranks.peers import Peers
from crossover.records.holes import HoleKind, Refusal


class Entrant(ExecutorFarm):
    """A pool of as many processes as there are engines."""

    def __init__(self, peers: Peers, ranks: Sequence[int], options: Options):
        super().__init__(peers, ranks, options)
        self._chunk_tasks = options.chunk_tasks
        self._mapped: Iterator[Any] = iter(())

    def start(self) -> None:
        """Start the workers: the pool does this when it gets its first tasks."""
        spawn = multiprocessing.get_context("spawn")
        self._started = spawn.Semaphore(0)
        self.executor = ProcessPoolExecutor(len(self.ranks), spawn, initializer=_begin, initargs=(self._started,))
        # One by one, because a chunk would start a single worker.
        super().submit(echo, self.ranks)

    def join(self) -> None:
        """Wait until all workers have started, then unlink the semaphores, which a killed driver would leave behind."""
        for _ in self.ranks:
            if not self._started.acquire(timeout=START_SECONDS):
                raise Refusal(HoleKind.CRASHED, f"a worker of the process pool did not start within {START_SECONDS} s")
        super().wait()
        for finalizer in list(util._finalizer_registry.values()):  # type: ignore[attr-defined]
            if finalizer._callback is SemLock._cleanup:  # type: ignore[attr-defined]
                finalizer()

    def submit(self, task: Task, arguments: Sequence[Any]) -> None:
        """Submit one by one, or in chunks."""
        if self._chunk_tasks:
            self._mapped = self.executor.map(task, arguments, chunksize=self._chunk_tasks)
        else:
            super().submit(task, arguments)

    def wait(self) -> list[Any]:
        """Wait for the results."""
        return list(self._mapped) if self._chunk_tasks else super().wait()

    def stop(self) -> None:
        """End the workers."""
        self.executor.shutdown()


def _begin(started: Semaphore) -> None:
    die_with_parent()
    started.release()


def serve(peers: Peers, invitation: None) -> None:
    """Do nothing, because the workers are no ranks."""
