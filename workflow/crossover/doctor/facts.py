"""The doctor's facts, as stored in JSON: those of its jobs, and those of the machine where Snakemake runs."""

import json
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from crossover.measure.native.compiler import CC, CXX, MPICC
from crossover.records import atomic

RANKS = 2
HOSTS = {"node": 1, "nodes": 2}
"""The number of hosts of each placement's job."""
MEMORY = Path("/dev/shm")
COMPILERS = {"the C ceilings": CC, "the MPI ceiling": MPICC, "the variants of libzmq": CXX}
"""Each compiler, by its purpose."""


@dataclass(frozen=True)
class Folder:
    """A folder of one host; an `error` is the reason if a file cannot be written there."""

    path: str
    free_bytes: int
    error: str


@dataclass(frozen=True)
class Rank:
    """The logical processors that a rank may use, those of its host, its temporary folder and `/dev/shm`."""

    processors: int
    of: int
    folders: tuple[Folder, ...]


@dataclass(frozen=True)
class Interface:
    """An interface of the first rank's host; an `error` is the reason if the second rank cannot connect to it.

    Launches would use the `chosen` one. A speed of 0 is unknown. RDMA is remote memory access.
    """

    name: str
    address: str
    chosen: bool
    megabits: int
    rdma: bool
    error: str = ""

    def __str__(self) -> str:
        speed = f"{self.megabits:,} Mbit/s" if self.megabits else "speed unknown"
        return f"{self.name} ({speed}, {'RDMA' if self.rdma else 'no RDMA'})"


@dataclass(frozen=True)
class Written:
    """A file that the first rank wrote to the folder of results, and when the second saw it; None if it never did."""

    folder: str
    error: str
    seen_seconds: float | None


@dataclass(frozen=True)
class Pair:
    """The facts that two ranks gather together."""

    ranks: tuple[Rank, ...]
    interfaces: tuple[Interface, ...]
    no_interface: str
    """The reason if launches could not choose one."""
    temporary_shared: bool
    """Whether the second host sees a file in the first one's temporary folder."""
    written: Written


@dataclass(frozen=True)
class World:
    """An MPI world that started: the host of each rank, the MPI library, and the facts of two ranks."""

    hosts: tuple[str, ...]
    library: str
    pair: Pair | None = None


@dataclass(frozen=True)
class Attempt:
    """An attempt to start two ranks by a launcher, and the last line of its output."""

    mpi: str
    worlds: tuple[World, ...] = ()
    said: str = ""

    @property
    def together(self) -> bool:
        """Whether both ranks started in one world."""
        return [len(world.hosts) for world in self.worlds] == [RANKS]

    @property
    def hosts(self) -> list[str]:
        """The hosts on which ranks started."""
        return sorted({host for world in self.worlds for host in world.hosts})

    def on(self, hosts: int) -> bool:
        """Whether both ranks started in one world, on so many hosts."""
        return self.together and len(self.hosts) == hosts

    def __str__(self) -> str:
        """The launcher and the outcome, in words."""
        sizes = [len(world.hosts) for world in self.worlds]
        if not sizes:
            return f"{self.mpi} started no ranks: {self.said or 'no reason given'}"
        if self.together:
            return f"{self.mpi} started {RANKS} ranks that see each other, on {' and '.join(self.hosts)}"
        if set(sizes) == {1}:
            return f"{self.mpi} started {len(sizes)} ranks that came up alone"
        return f"{self.mpi} started worlds of {' and '.join(map(str, sizes))} ranks, not of {RANKS}"


@dataclass(frozen=True)
class Job:
    """A job that ran. What is unknown, or known only on Slurm, is None or empty."""

    placement: str
    queued_seconds: float | None
    processors: int
    """The logical processors that each rank must be able to use."""
    attempts: tuple[Attempt, ...]

    @property
    def pair(self) -> Pair | None:
        """The facts from the launcher that put its ranks on as many hosts as the job has; None without one."""
        last = self.attempts[-1]
        return last.worlds[0].pair if last.on(HOSTS[self.placement]) else None


def placements(hosts: int) -> list[str]:
    """The placements that are examined where a launch can have so many hosts."""
    return [placement for placement, count in HOSTS.items() if count <= hosts]


def compilers() -> dict[str, str]:
    """The identity of each compiler, by purpose; empty if none works."""
    return {purpose: compiler.identity() for purpose, compiler in COMPILERS.items()}


def quarto() -> dict[str, str]:
    """The version of Quarto by its path, empty if it does not work; nothing if it is not installed."""
    path, version = shutil.which("quarto"), ""
    with suppress(OSError, ValueError, subprocess.SubprocessError):
        command = [path or "", "--version"]
        done = subprocess.run(command, capture_output=True, timeout=30, check=True, encoding="utf-8", errors="replace")
        version = done.stdout.strip()
    return {path: version} if path else {}


HERE: dict[str, tuple[Callable[[], dict[str, str]], str]] = {
    "compilers": (compilers, "measure"),
    "quarto": (quarto, "report"),
}
"""The checks where Snakemake runs: the function, and the environment of `envs/` in which it runs."""


def write(found: dict[str, str] | Job, output: Path) -> None:
    """Write facts to a file as JSON, whole or not at all."""
    with atomic.replacing(output) as part:
        part.write_text(json.dumps(found if isinstance(found, dict) else asdict(found), indent=1), encoding="utf-8")


def read(file: Path, kind: Any) -> Any:
    """The facts in a file, of this type; None without a file, and for one of another release."""
    from crossover.records import json_text

    with suppress(OSError, ValueError):
        return json_text.read(file.read_bytes(), kind)
    return None
