"""Blocking sends and receives in C, on the same MPI and at the same thread level as the Python arms."""

from __future__ import annotations

import ctypes

from mpi4py import MPI

from crossover.measure.build import loader
from crossover.measure.ceilings import Bytes, Exchange, address, function

LIBRARY = "mpi_pingpong"
LONGEST_BYTES = 2**31 - 1
"""The longest message: MPI counts in C's int."""
LONGEST_VERSION_BYTES = 1 << 16
"""More than any MPI writes. Limits differ: MPICH writes 8 kB, Open MPI 256 B."""


def pingpong(comm: MPI.Intracomm, other: int) -> Exchange:
    """Round trips between this rank and rank `other` of `comm`; the lower rank sends first."""
    library = loader.load(LIBRARY)
    _refuse_another_mpi(library)
    types = (
        *(ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_long),
        ctypes.c_void_p,
    )
    play = function(library, "mpi_pingpong", *types)
    handle, first = ctypes.c_void_p(MPI._addressof(comm)), int(comm.rank < other)

    def exchange(outbox: Bytes, inbox: Bytes, n: int) -> float:
        if len(outbox) > LONGEST_BYTES:
            raise loader.UnavailableError(f"the C ping-pong takes at most {LONGEST_BYTES} bytes a message")
        ns = ctypes.c_int64()
        error = play(handle, other, first, address(outbox), address(inbox), len(outbox), n, ctypes.byref(ns))
        if error:
            raise RuntimeError(f"MPI in C failed: {MPI.Get_error_string(error)}")
        return ns.value / 1e9

    return exchange


def _refuse_another_mpi(library: ctypes.CDLL) -> None:
    """A library built by another MPI's compiler would load that MPI, which is not initialised."""
    text, length = ctypes.create_string_buffer(LONGEST_VERSION_BYTES), ctypes.c_int()
    function(library, "MPI_Get_library_version", ctypes.c_void_p, ctypes.c_void_p)(text, ctypes.byref(length))
    theirs, ours = text.value.decode(errors="replace").strip(" \n\0"), MPI.Get_library_version().strip(" \n\0")
    if theirs != ours:
        raise loader.UnavailableError(
            f"{LIBRARY} was built for another MPI ({_brief(theirs)}) than mpi4py runs on ({_brief(ours)}); "
            "name the mpicc of mpi4py's MPI in the environment variable MPICC and run again"
        )


def _brief(version: str) -> str:
    return " ".join(version.split("\n")[0].split(",")[0].split())
