"""Threads of rank 0: nothing is pickled, and tasks that compute wait for each other."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from crossover.farms.NAME import Options
from crossover.measure.farms import ExecutorFarm
from crossover.measure.ranks.peers import Peers


class Client(ExecutorFarm):
    """A pool of threads, some for each engine."""

    def __init__(self, peers: Peers, ranks: Sequence[int], engines: int, options: Options):
        super().__init__(peers, ranks, engines, options)
        self._threads = options.threads_per_engine * engines

    def start(self) -> None:
        """Make the pool."""
        self.executor = ThreadPoolExecutor(self._threads)

    def stop(self) -> None:
        """End the threads."""
        self.executor.shutdown()
