"""The connection of one rank to the other, for the checks that need two ranks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Importing it starts MPI, which Snakemake and a job's supervisor must not.
    from mpi4py import MPI

MARK = "crossover-doctor "
"""Marks a line with the facts of a rank."""


@dataclass(frozen=True)
class Pair:
    """This rank and the other. The checks take a second or two, so waiting in MPI, which spins, does no harm."""

    comm: MPI.Intracomm
    shared: Path
    """A folder that both hosts should see."""
    apart: bool
    """Whether they are on two hosts."""
    interface: str
    """The network interface that the site names, or `auto`."""

    @property
    def first(self) -> bool:
        """Whether this is rank 0, which starts each exchange."""
        return self.comm.rank == 0

    def tell(self, value: Any) -> None:
        """Send a value to the other rank."""
        self.comm.send(value, dest=1 - self.comm.rank)

    def hear(self) -> Any:
        """Receive a value from the other rank."""
        return self.comm.recv(source=1 - self.comm.rank)

    def both(self, value: Any) -> list[Any]:
        """The value of each rank, by rank."""
        return self.comm.allgather(value)
