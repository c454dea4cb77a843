"""Python's own process pool: its workers are children of rank 0 (start method `spawn`), without a network.

The ranks reserved for its engines do nothing.
"""

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from crossover.farms.concurrent_futures import Options
from crossover.measure.farms import ExecutorFarm, Task
from crossover.measure.farms.tasks import echo
from crossover.measure.ranks.children import Children, begin
from crossover.measure.ranks.peers import Peers


class Client(ExecutorFarm):
    """A pool of as many processes as there are engines."""

    def __init__(self, peers: Peers, ranks: Sequence[int], options: Options):
        super().__init__(peers, ranks, options)
        self._chunk_tasks = options.chunk_tasks
        self._mapped: Iterator[Any] = iter(())

    def start(self) -> None:
        """Start the workers: the pool does this when it gets its first tasks."""
        spawn = multiprocessing.get_context("spawn")
        self._children = Children(spawn, "a worker of the process pool", len(self.ranks))
        self.executor = ProcessPoolExecutor(
            len(self.ranks), spawn, initializer=begin, initargs=(self._children.started,)
        )
        # One by one, because a chunk would start a single worker.
        super().submit(echo, self.ranks)
        self._children.all_made()
        self._children.watch()

    def join(self) -> None:
        """Wait until all workers have started."""
        self._children.await_start()
        super().wait()

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
        self._children.may_end = True
        self.executor.shutdown()


def serve(peers: Peers, invitation: None) -> None:
    """Do nothing, because the workers are no ranks."""
