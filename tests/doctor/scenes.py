"""The facts of healthy jobs; a test changes only the fact that it is about."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from crossover.doctor.conclude import Seen
from crossover.doctor.facts import Attempt, Job, Pair

ETH = ("eth0", "10.0.0.1", "")
IB = ("ib0", "10.1.0.1", "")
FOLDERS = (("/tmp", 9 << 30, ""), ("/dev/shm", 9 << 30, ""))
PAIR = Pair("MPICH 5.0.2", (16, 16), FOLDERS * 2, False, (ETH, IB), "", "/home/me", "", 0.002)


def attempt(mpi: str, *worlds: str, said: str = "", pair: Pair | None = PAIR) -> Attempt:
    """An attempt; a world is given by the hosts of its ranks."""
    return Attempt(mpi, tuple(tuple(hosts.split()) for hosts in worlds), said, pair if worlds else None)


def job(hosts: str, *attempts: Attempt, pair: Pair = PAIR, **changed: Any) -> Job:
    """A healthy job with two ranks on these hosts."""
    tried = attempts or (attempt("srun --mpi=pmi2", hosts, pair=pair),)
    placement = "nodes" if len(set(hosts.split())) > 1 else "node"
    return replace(Job(placement, 2.0, 16, tried), **changed)


HEALTHY = Seen("slurm", job("n1 n1"), job("n1 n2"))
"""A cluster on which everything works."""
LAPTOP = Seen("local", job("laptop laptop", queued_seconds=None))


def write(job: Job, folder: Path) -> None:
    """Write the facts of a job to a folder, as the job does."""
    (folder / f"{job.placement}.json").write_text(json.dumps(asdict(job)))
