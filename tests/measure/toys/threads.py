"""Threads of rank 0: nothing is pickled, and tasks that compute wait for each other."""

from concurrent.futures import ThreadPoolExecutor

from crossover.measure.farms import Farm

PACKAGES = ("psutil",)
ONE_HOST = True


class Entrant(Farm):
    def __init__(self, peers, ranks, threads_per_engine: int = 1):
        super().__init__(peers, ranks)
        self.threads = threads_per_engine * len(ranks)

    def start(self):
        self.pool = ThreadPoolExecutor(self.threads)

    def submit(self, task, arguments):
        self.pending = [self.pool.submit(task, argument) for argument in arguments]

    def wait(self):
        return [future.result() for future in self.pending]

    def stop(self):
        self.pool.shutdown()


def serve(peers, invitation):
    """Do nothing: its engines are no ranks."""
