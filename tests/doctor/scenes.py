"""The facts of healthy jobs; a test changes only the fact that it is about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from crossover.doctor.conclude import Seen
from crossover.doctor.facts import Attempt, Folder, Interface, Job, Pair, Rank, World, Written

ETH = Interface("eth0", "10.0.0.1", True, 1000, False)
IB = Interface("ib0", "10.1.0.1", False, 100_000, True)
RANK = Rank(16, 16, (Folder("/tmp", 9 << 30, ""), Folder("/dev/shm", 9 << 30, "")))
PAIR = Pair((RANK, RANK), (ETH,), "", False, Written("/home/me", "", 0.002))


def attempt(mpi: str, *worlds: str, said: str = "", pair: Pair | None = PAIR) -> Attempt:
    """An attempt; a world is given by the hosts of its ranks."""
    return Attempt(mpi, tuple(World(tuple(hosts.split()), "MPICH 5.0.2", pair) for hosts in worlds), said)


def job(hosts: str, *attempts: Attempt, pair: Pair = PAIR, **changed: Any) -> Job:
    """A healthy job with two ranks on these hosts."""
    tried = attempts or (attempt("srun --mpi=pmi2", hosts, pair=pair),)
    placement = "nodes" if len(set(hosts.split())) > 1 else "node"
    return replace(Job(placement, 2.0, 16, tried), **changed)


COMPILERS = {"the C ceilings": "cc: 12", "the MPI ceiling": "mpicc: 12", "the variants of libzmq": "g++: 12"}
HEALTHY = Seen(
    "slurm",
    job("n1 n1"),
    job("n1 n2"),
    COMPILERS,
    {"/bin/quarto": "1.10"},
)
"""A cluster on which everything works."""
LAPTOP = Seen("local", job("laptop laptop", queued_seconds=None), None, COMPILERS, {})
