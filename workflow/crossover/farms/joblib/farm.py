"""joblib's `Parallel` on its processes (loky): its workers are children of rank 0, and serve all such arms.

With `threads`, its workers are threads of rank 0. With one engine joblib starts no process: the tasks run in the
client. Each flood is one call of `Parallel`, so joblib adapts its batches anew each time, and submission takes as long
as the whole. joblib pickles a batch of tasks at once, and an array of more than 1 MiB reaches workers through a file;
either sends an array once if several tasks have it.
"""

import tempfile
from collections.abc import Sequence
from typing import Any

from joblib import Parallel, delayed
from joblib.externals.loky import get_reusable_executor
from joblib.externals.loky.backend.synchronize import SemLock

from crossover.farms.joblib import Options
from crossover.measure.farms import Farm, Task
from crossover.measure.farms.tasks import echo
from crossover.measure.ranks.children import own_prefix
from crossover.measure.ranks.ending import die_with_parent
from crossover.measure.ranks.peers import Peers

IDLE_SECONDS = 10**6
"""Idle workers stay: by default they end after five minutes, and a launch can idle for longer."""


class Client(Farm):
    """A pool of as many processes as there are engines."""

    def __init__(self, peers: Peers, ranks: Sequence[int], engines: int, options: Options):
        super().__init__(peers, ranks, engines, options)
        self._batch_tasks = options.batch_tasks or "auto"

    def start(self) -> None:
        """Describe the pool, whose semaphores keep their names, because joblib may replace workers."""
        if self.options.threads:
            self._parallel = Parallel(self.engines, backend="threading", batch_size=self._batch_tasks)
            return
        SemLock._make_name = staticmethod(lambda: f"/{own_prefix()}-{next(SemLock._rand)}")
        self._parallel = Parallel(
            self.engines,
            backend="loky",
            batch_size=self._batch_tasks,
            # The launch's own folder goes however the launch ends.
            temp_folder=tempfile.gettempdir(),
            idle_worker_timeout=IDLE_SECONDS,
            initializer=die_with_parent,
        )

    def join(self) -> None:
        """Start the workers, which joblib does when it gets its first tasks."""
        self.submit(echo, range(self.engines))

    def submit(self, task: Task, arguments: Sequence[Any]) -> None:
        """Submit the tasks and wait for them, because joblib does both in one call."""
        call = delayed(task)
        self._results: list[Any] = self._parallel(call(argument) for argument in arguments)

    def wait(self) -> list[Any]:
        """The results."""
        return self._results

    def stop(self) -> None:
        """End the workers."""
        if not self.options.threads:
            get_reusable_executor().shutdown()
