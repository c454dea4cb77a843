"""Interpreters of rank 0, one in each thread of a pool, with a lock of their own: tasks and results are pickled.

The ranks reserved for its engines do nothing.
"""

import concurrent.futures
from typing import Any

from crossover.measure.farms import ExecutorFarm
from crossover.measure.ranks.peers import Peers
from crossover.records.holes import HoleKind, Refusal

if not hasattr(concurrent.futures, "InterpreterPoolExecutor"):
    raise Refusal(
        HoleKind.NOT_INSTALLED, "the farm interpreters needs Python 3.14 or newer; use one, or remove its arms"
    )
POOL: Any = concurrent.futures.InterpreterPoolExecutor


class Client(ExecutorFarm):
    """A pool of as many interpreters as there are engines."""

    def start(self) -> None:
        """Make the pool."""
        self.executor = POOL(len(self.ranks))

    def stop(self) -> None:
        """End the interpreters."""
        self.executor.shutdown()


def serve(peers: Peers, invitation: None) -> None:
    """Do nothing, because its engines are no ranks."""
