"""Threads of rank 0: nothing is pickled. Without a free-threaded interpreter, tasks that compute wait for each other.

The ranks reserved for its engines do nothing.
"""

from concurrent.futures import ThreadPoolExecutor

from crossover.measure.farms import ExecutorFarm
from crossover.measure.ranks.peers import Peers


class Client(ExecutorFarm):
    """A pool of as many threads as there are engines."""

    def start(self) -> None:
        """Make the pool."""
        self.executor = ThreadPoolExecutor(len(self.ranks))

    def stop(self) -> None:
        """End the threads."""
        self.executor.shutdown()


def serve(peers: Peers, invitation: None) -> None:
    """Do nothing, because its engines are no ranks."""
