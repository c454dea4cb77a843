"""Threads of rank 0: nothing is pickled. With the interpreter's lock, tasks that compute wait for each other."""

from concurrent.futures import ThreadPoolExecutor

from crossover.measure.farms import ExecutorFarm


class Client(ExecutorFarm):
    """A pool of as many threads as there are engines."""

    def start(self) -> None:
        """Make the pool."""
        self.executor = ThreadPoolExecutor(self.engines)

    def stop(self) -> None:
        """End the threads."""
        self.executor.shutdown()
