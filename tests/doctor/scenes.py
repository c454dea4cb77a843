"""The facts of healthy jobs, and two ranks without MPI; a test changes only the fact that it is about."""

from __future__ import annotations

import queue
import threading
from copy import deepcopy
from pathlib import Path
from types import ModuleType
from typing import Any

from crossover.doctor.finding import Seen
from crossover.doctor.pair import Pair

CLOCK = {"step_seconds": 4e-8, "reading_seconds": 6e-8, "source": "tsc"}
FOLDERS = {
    "folder": {"path": "/tmp", "error": "", "free_bytes": 9 << 30, "file_system": "ext4"},
    "memory": {"path": "/dev/shm", "error": "", "free_bytes": 9 << 30, "file_system": "tmpfs"},
}


def world(*hosts: str) -> dict[str, Any]:
    return {"size": len(hosts), "hosts": list(hosts), "library": "MPICH 5.0.2"}


def attempt(mpi: str, *worlds: dict[str, Any], said: str = "") -> dict[str, Any]:
    return {"mpi": mpi, "worlds": list(worlds), "said": said}


def alone(mpi: str, *hosts: str) -> dict[str, Any]:
    """A launcher whose ranks start but do not find each other."""
    return attempt(mpi, *(world(host) for host in hosts))


def job(*hosts: str) -> dict[str, Any]:
    """The facts of a healthy job with two ranks on these hosts."""
    apart = len(set(hosts)) > 1
    return {
        "host": hosts[0],
        "job": {"queued_seconds": 2.0, "entering_seconds": 6.0},
        "partition": "main",
        "attempts": [attempt("srun --mpi=pmi2", world(*hosts))],
        "processors": 16,
        "pair": {
            "processors": {"ranks": [{"free": 16, "of": 16}] * 2},
            "ports": {
                "trouble": "",
                "tried": [{"interface": "eth0", "address": "10.0.0.1", "chosen": True, "error": ""}],
            },
            "clocks": {"offset_seconds": 1e-5, "within_seconds": 2e-5, "measuring": [CLOCK, CLOCK]},
            "temporary": {"hosts": deepcopy([FOLDERS, FOLDERS])} | ({"seen_by_other": False} if apart else {}),
            "shared": {"folder": "/home/me", "error": "", "write_seconds": [0.01] * 3, "visible_seconds": [0.002] * 3},
        },
    }


def healthy() -> Seen:
    """A cluster on which everything works."""
    compilers = {"the C ceilings": "cc: 12", "the MPI ceiling": "mpicc: 12", "the variants of libzmq": "g++: 12"}
    quarto = {"path": "/bin/quarto", "version": "1.10"}
    here = {"compiler": compilers, "quarto": quarto, "queue": {"ended": {"accounts": False, "seconds": 300}}}
    return Seen("slurm", job("node1", "node1"), job("node1", "node2"), here)


def laptop() -> Seen:
    """One machine."""
    found = job("laptop", "laptop") | {"job": {}}
    return Seen("local", found, {}, healthy().here)


class Line:
    """A communicator of two ranks that are threads."""

    def __init__(self, rank: int, ends: tuple[queue.Queue[Any], queue.Queue[Any]]):
        self.rank, self._ends = rank, ends

    def send(self, value: Any, dest: int) -> None:
        self._ends[dest].put(value)

    def recv(self, source: int) -> Any:
        return self._ends[1 - source].get(timeout=20)

    def allgather(self, value: Any) -> list[Any]:
        self.send(value, 1 - self.rank)
        other = self.recv(1 - self.rank)
        return [value, other] if self.rank == 0 else [other, value]


def looked(check: ModuleType, apart: bool, first: Path, second: Path, interface: str = "auto") -> dict[str, Any]:
    """The facts that two ranks gather for a check, each with its own path of the shared folder."""
    ends: tuple[queue.Queue[Any], queue.Queue[Any]] = (queue.Queue(), queue.Queue())
    pairs = [Pair(Line(rank, ends), folder, apart, interface) for rank, folder in enumerate((first, second))]  # type: ignore[arg-type]
    other = threading.Thread(target=check.look, args=(pairs[1],), daemon=True)
    other.start()
    found: dict[str, Any] = check.look(pairs[0])
    other.join(20)
    assert not other.is_alive()
    return found
