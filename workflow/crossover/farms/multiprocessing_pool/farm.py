"""`multiprocessing.Pool`: its workers are children of rank 0 (start method `spawn`), which share two pipes.

The ranks reserved for its engines do nothing. The pool replaces a lost worker, but not the tasks that it had: they
would be waited for without end, so the launch ends.
"""

import multiprocessing
from collections.abc import Sequence
from multiprocessing.pool import AsyncResult
from typing import Any

from crossover.farms.multiprocessing_pool import Options
from crossover.measure.farms import Farm, Task
from crossover.measure.ranks.children import Children, begin
from crossover.measure.ranks.peers import Peers


class Client(Farm):
    """A pool of as many processes as there are engines."""

    def __init__(self, peers: Peers, ranks: Sequence[int], options: Options):
        super().__init__(peers, ranks, options)
        self._chunk_tasks = options.chunk_tasks

    def start(self) -> None:
        """Start the workers."""
        spawn = multiprocessing.get_context("spawn")
        self._children = Children(spawn, "a worker of multiprocessing.Pool", len(self.ranks))
        self._pool = spawn.Pool(len(self.ranks), begin, (self._children.started,))
        self._children.all_made()
        self._children.watch()

    def join(self) -> None:
        """Wait until all workers have started."""
        self._children.await_start()

    def submit(self, task: Task, arguments: Sequence[Any]) -> None:
        """Submit one by one, or in chunks; a thread of the pool pickles and sends."""
        if self._chunk_tasks:
            self._chunked = self._pool.map_async(task, arguments, self._chunk_tasks)
        else:
            submit = self._pool.apply_async
            self._pending: list[AsyncResult[Any]] = [submit(task, (argument,)) for argument in arguments]

    def wait(self) -> list[Any]:
        """Wait for the results."""
        return self._chunked.get() if self._chunk_tasks else [result.get() for result in self._pending]

    def stop(self) -> None:
        """End the workers."""
        self._children.may_end = True
        self._pool.close()
        self._pool.join()


def serve(peers: Peers, invitation: None) -> None:
    """Do nothing, because the workers are no ranks."""
