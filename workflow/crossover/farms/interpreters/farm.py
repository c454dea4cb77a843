"""Interpreters of rank 0, one in each thread of a pool, with a lock of their own: tasks and results are pickled."""

import concurrent.futures
from typing import Any

from crossover.measure.farms import ExecutorFarm
from crossover.records.holes import HoleKind, Refusal

if not hasattr(concurrent.futures, "InterpreterPoolExecutor"):
    raise Refusal(HoleKind.WRONG_SETUP, "the farm interpreters needs Python 3.14 or newer; use one, or remove its arms")
POOL: Any = concurrent.futures.InterpreterPoolExecutor


class Client(ExecutorFarm):
    """A pool of as many interpreters as there are engines."""

    def start(self) -> None:
        """Make the pool."""
        self.executor = POOL(self.engines)

    def stop(self) -> None:
        """End the interpreters."""
        self.executor.shutdown()
