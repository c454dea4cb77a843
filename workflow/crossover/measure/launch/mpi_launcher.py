"""What is asked of the MPI launcher: where ranks may run, and what it does when one fails."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

from crossover.measure.ranks import network

FOR_OPEN_MPI = {
    # Threads and servers beside a rank must not share its one core. Each variable is version 4's, then version 5's.
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    # A farm has the engines that it was asked for, on however few cores.
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
"""What Open MPI's mpiexec heeds unless its options say otherwise."""
FOR_SRUN = {
    "SLURM_CPU_BIND": "none",
    # As many ranks on each host; left to itself it fills the first.
    "SLURM_DISTRIBUTION": "cyclic",
    # Ranks on other hosts end when one has failed, and half a minute after one has ended.
    "SLURM_KILL_BAD_EXIT": "1",
    "SLURM_WAIT": "30",
}
"""What srun heeds unless its options say otherwise. A job sets some of these variables, to what suits its own step."""


def starting(mpi: str, ranks: int, nodes: int) -> list[str]:
    """The words that start so many ranks, before their command; `mpi` is the launcher that the user names.

    On one host MPICH's `mpiexec`, if it has no options, is replaced by a starter that opens no port (`starter`).
    """
    if nodes == 1 and mpi == "mpiexec" and _is_of_mpich(mpi):
        return [sys.executable, "-m", "crossover.measure.processes.starter", str(ranks)]
    return [*shlex.split(mpi), "-n", str(ranks)]


def _is_of_mpich(program: str) -> bool:
    """Whether MPICH's process manager stands beside it."""
    found = shutil.which(program)
    return found is not None and Path(found).resolve().with_name("hydra_pmi_proxy").exists()


def surroundings(placement: str, interface: str) -> dict[str, str]:
    """The environment in which an MPI launcher is started. Raises Refusal (WRONG_INTERFACE)."""
    # MPI must not listen on networks where no rank is; but users may know better which it is to take.
    return network.reach(placement, interface).for_mpi() | wishes()


def wishes() -> dict[str, str]:
    """It without what a network asks for."""
    return FOR_OPEN_MPI | os.environ | FOR_SRUN


def processors(mpi: str) -> int:
    """How many logical processors each rank must be free to use: all that this process is, or 1 where `mpi` binds."""
    binds = any(word.startswith("-") and "bind" in word for word in shlex.split(mpi))
    return 1 if binds else len(os.sched_getaffinity(0))
