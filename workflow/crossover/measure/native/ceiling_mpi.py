"""Sends and receives, and collective calls, in C, on the same MPI and at the same thread level as the Python arms."""

import ctypes
import re
from typing import Any

from mpi4py import MPI

from crossover.measure.native import loader
from crossover.measure.native.ceiling import Bytes, Exchange, exchange, function

COLLECTIVES = ("allreduce", "bcast", "allgather")
"""In the order of their numbers in C."""
LONGEST_BYTES = 2**31 - 1
"""The longest message: MPI counts in C's int."""
LONGEST_VERSION_BYTES = 1 << 16
"""More than any MPI writes. Limits differ: MPICH writes 8 kB, Open MPI 256 B."""


def pingpong(comm: MPI.Intracomm, other: int) -> Exchange:
    """Round trips between this rank and rank `other` of `comm`; the lower rank sends first."""
    return _exchange("mpi_exchange", comm, ctypes.c_int(other), ctypes.c_int(comm.rank < other))


def collective(comm: MPI.Intracomm, pattern: str) -> Exchange:
    """Calls of one of COLLECTIVES on doubles, each with its number at the end of the outbox.

    A result is in the inbox; only that of a bcast stays in the outbox of its root, which is rank `number % size`.
    """
    number = COLLECTIVES.index(pattern)
    return _exchange("mpi_collective", comm, *map(ctypes.c_int, (number, comm.rank, comm.size)))


def _exchange(name: str, comm: MPI.Intracomm, *ends: Any) -> Exchange:
    """The function of the library with its name."""
    library = loader.load(name)
    _refuse_another_mpi(library, name)
    play = exchange(library, name, (ctypes.c_void_p(MPI._addressof(comm)), *ends), _failure, size=ctypes.c_int)

    def limited(outbox: Bytes, inbox: Bytes, n: int) -> float:
        if len(outbox) > LONGEST_BYTES:
            raise loader.UnavailableError(f"the ceiling in C takes at most {LONGEST_BYTES} bytes a message")
        return play(outbox, inbox, n)

    return limited


def _failure(code: int) -> RuntimeError:
    return RuntimeError(f"MPI in C failed: {MPI.Get_error_string(code)}")


def _refuse_another_mpi(library: ctypes.CDLL, name: str) -> None:
    """A library built by another MPI's compiler would load that MPI, which is not initialised."""
    text, length = ctypes.create_string_buffer(LONGEST_VERSION_BYTES), ctypes.c_int()
    function(library, "MPI_Get_library_version", ctypes.c_void_p, ctypes.c_void_p)(text, ctypes.byref(length))
    theirs, ours = text.value.decode(errors="replace").strip(" \n\0"), MPI.Get_library_version().strip(" \n\0")
    if theirs != ours:
        built, running = (" ".join(re.split(r"[,\n]", version)[0].split()) for version in (theirs, ours))
        raise loader.UnavailableError(
            f"{name} was built for another MPI ({built}) than mpi4py runs on ({running}); "
            "name the mpicc of mpi4py's MPI in the environment variable MPICC and run again"
        )
