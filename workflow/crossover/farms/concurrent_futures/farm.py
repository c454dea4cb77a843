"""Python's own process pool: its workers are children of rank 0 (start method `spawn`), without a network."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from crossover.measure.farms import ExecutorFarm
from crossover.measure.farms.tasks import echo
from crossover.measure.ranks.children import Children, begin


class Client(ExecutorFarm):
    """A pool of as many processes as there are engines."""

    def start(self) -> None:
        """Start the workers: the pool does this when it gets its first tasks."""
        spawn = multiprocessing.get_context("spawn")
        self._children = Children(spawn, "a worker of the process pool", self.engines)
        self.executor = ProcessPoolExecutor(self.engines, spawn, initializer=begin, initargs=(self._children.started,))
        # One by one, because a chunk would start a single worker.
        self._submit(echo, range(self.engines))
        self._children.all_made()
        self._children.watch()

    def join(self) -> None:
        """Wait until all workers have started."""
        self._children.await_start()
        self.wait()

    def stop(self) -> None:
        """End the workers."""
        self._children.may_end = True
        self.executor.shutdown()
