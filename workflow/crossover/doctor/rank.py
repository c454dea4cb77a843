"""One of a job's two ranks: reports which ranks started together; if both did, runs the checks that need two.

The MPI launcher starts it: `<launcher> -n 2 python -m mpi4py -m crossover.doctor.rank SHARED_FOLDER INTERFACE`. Its
result is a line of JSON on standard output, after MARK, because shared files may not work yet.
"""

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

from crossover.doctor.attempt import RANKS
from crossover.doctor.checks import BETWEEN_RANKS, module
from crossover.doctor.pair import MARK, Pair
from crossover.measure.launch.pmi import shorten_values
from crossover.measure.processes import ending, mpich_files


def main() -> None:
    """Run one rank."""
    ending.die_with_parent()
    shorten_values()
    from mpi4py import MPI

    shared, interface = sys.argv[1:]
    comm = MPI.COMM_WORLD
    hosts = comm.allgather(socket.gethostname())
    mpich_files.unlink(mpich_files.shared_memory(os.getpid()))
    found: dict[str, Any] = {
        "size": comm.size,
        "hosts": hosts,
        "library": " ".join(MPI.Get_library_version().split("\n")[0].split()),
    }
    if comm.size == RANKS:
        pair = Pair(comm, Path(shared), len(set(hosts)) == RANKS, interface)
        found["pair"] = {name: module(name).look(pair) for name in BETWEEN_RANKS}
    if comm.rank == 0:
        # In one call, so that lines of ranks in separate worlds do not mix.
        os.write(1, f"{MARK}{json.dumps(found)}\n".encode())


if __name__ == "__main__":
    main()
