"""`multiprocessing.Pool`: its workers are children of rank 0 (start method `spawn`), which share two pipes.

The pool replaces a lost worker, but not the tasks that it had: they would be waited for without end, so the launch
ends.
"""

import multiprocessing
from collections.abc import Callable, Sequence
from typing import Any

from crossover.measure.farms import Farm, Task
from crossover.measure.ranks.children import Children, begin


class Client(Farm):
    """A pool of as many processes as there are engines."""

    def start(self) -> None:
        """Start the workers."""
        spawn = multiprocessing.get_context("spawn")
        self._children = Children(spawn, "a worker of multiprocessing.Pool", self.engines)
        self._pool = spawn.Pool(self.engines, begin, (self._children.started,))
        self._children.all_made()
        self._children.watch()

    def join(self) -> None:
        """Wait until all workers have started."""
        self._children.await_start()

    def submit(self, task: Task, arguments: Sequence[Any]) -> None:
        """Submit one by one, or in chunks; a thread of the pool pickles and sends."""
        if self.options.map or self.options.chunk_tasks:
            self._results: Callable[[], list[Any]] = self._pool.map_async(
                task, arguments, self.options.chunk_tasks or None
            ).get
        else:
            pending = [self._pool.apply_async(task, (argument,)) for argument in arguments]
            self._results = lambda: [result.get() for result in pending]

    def wait(self) -> list[Any]:
        """Wait for the results."""
        return self._results()

    def stop(self) -> None:
        """End the workers."""
        self._children.may_end = True
        self._pool.close()
        self._pool.join()
