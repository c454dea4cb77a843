"""mpi4py.futures: an executor over a communicator of rank 0 and the engines, tasks and results pickled over MPI.

Its idle workers poll for messages a thousand times a second, so it needs `alone`: launches with the reference only.
"""

from typing import cast

from mpi4py.futures import MPICommExecutor, MPIPoolExecutor

from crossover.measure.farms import ExecutorFarm
from crossover.measure.ranks.peers import Peers


class Client(ExecutorFarm):
    """One executor, whose workers are ranks."""

    def invitation(self) -> list[int]:
        """The ranks of the communicator."""
        return [0, *self.ranks]

    def join(self) -> None:
        """Create the communicator together with the engines, after a message to each, because they spin meanwhile."""
        for rank in self.ranks:
            self.peers.send("now", to=rank)
        self._comm = self.peers.among(self.invitation()).comm
        self._running = MPICommExecutor(self._comm, root=0, backoff=self.options.backoff_seconds)
        self.executor = cast(MPIPoolExecutor, self._running.__enter__())
        self.executor.bootup()

    def stop(self) -> None:
        """Let the workers return."""
        self._running.__exit__(None, None, None)
        self._comm.Free()


def serve(peers: Peers, ranks: list[int]) -> None:
    """Run a worker until the executor is shut down."""
    peers.receive()
    comm = peers.among(ranks).comm
    with MPICommExecutor(comm, root=0):
        pass
    comm.Free()
