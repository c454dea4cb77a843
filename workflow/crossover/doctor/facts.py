"""The doctor's facts: a job starts two ranks like a launch, on one host or two, and stores what works as JSON.

If the site's launcher does not start them together, the job tries others. Each rank is
`<launcher> -n 2 python -m mpi4py -m crossover.doctor.facts RESULTS_FOLDER INTERFACE`. Rank 0 writes its facts to
standard output as a line of JSON after MARK, because shared files may not work yet.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crossover.errors import CrossoverError
from crossover.measure.launch import mpi_launcher
from crossover.measure.launch.pmi import shorten_values
from crossover.measure.ranks import ending, network, provenance
from crossover.measure.ranks.log import Relay
from crossover.records import atomic, json_text
from crossover.records.holes import Refusal

if TYPE_CHECKING:
    # Importing it starts MPI, which a job's supervisor must not.
    from mpi4py.MPI import Intracomm

RANKS = 2
HOSTS = {"node": 1, "nodes": 2}
"""The number of hosts of each placement's job."""
MEMORY = "/dev/shm"
MARK = "crossover-doctor "
LIMIT_SECONDS = 20
"""Time limit for two ranks. They start within two seconds, and wait for a file for at most ten."""
CONNECT_SECONDS = 1.0
"""Time limit of a connection; a firewall that drops packets never answers."""
FILE_SECONDS = 10.0
"""Time limit of waiting for a file."""
PROTOCOLS = ("pmi2", "pmix", "cray_shasta")
"""Slurm's ways to start MPI; srun refuses at once one that it does not have."""


@dataclass(frozen=True)
class Pair:
    """The facts that two ranks gather together."""

    library: str
    """The MPI library."""
    processors: tuple[int, int]
    """The fewest logical processors that a rank may use, and those of its host."""
    folders: tuple[tuple[str, int, str], ...]
    """Path, free bytes, and the reason if no file can be written there: each rank's temporary folder and MEMORY."""
    temporary_shared: bool
    """Whether the second host sees a file in the first one's temporary folder."""
    interfaces: tuple[tuple[str, str, str], ...]
    """Name, address, and the reason if the second rank cannot connect to it: the interfaces of the first one's host."""
    no_interface: str
    """The reason if launches could not choose one; without it, they use the first."""
    results: str
    unwritten: str
    """The folder of results, and the reason if the first rank could not write a file there."""
    seen_seconds: float | None
    """When the second rank saw that file; None if it never did."""


@dataclass(frozen=True)
class Attempt:
    """An attempt to start two ranks by a launcher: the hosts of each MPI world, and the last line of its output."""

    mpi: str
    worlds: tuple[tuple[str, ...], ...] = ()
    said: str = ""
    pair: Pair | None = None

    @property
    def together(self) -> bool:
        """Whether both ranks started in one world."""
        return list(map(len, self.worlds)) == [RANKS]

    @property
    def hosts(self) -> list[str]:
        """The hosts on which ranks started."""
        return sorted({host for world in self.worlds for host in world})

    def on(self, hosts: int) -> bool:
        """Whether both ranks started in one world, on so many hosts."""
        return self.together and len(self.hosts) == hosts

    def __str__(self) -> str:
        """The launcher and the outcome, in words."""
        sizes = list(map(len, self.worlds))
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
        return last.pair if last.on(HOSTS[self.placement]) else None


def placements(hosts: int) -> list[str]:
    """The placements that are examined where a launch can have so many hosts."""
    return [placement for placement, count in HOSTS.items() if count <= hosts]


def read(file: Path) -> Job | None:
    """The facts in a file; None without a file, and for one of another release."""
    with suppress(OSError, ValueError):
        job: Job = json_text.read(file.read_bytes(), Job)
        return job
    return None


# ---- the job


def examine(mpi: str, placement: str, interface: str, output: Path, log: Path) -> None:
    """Run a job, and write its facts to `output` and its output to `log`; `mpi` is the site's launcher."""
    ending.adopt_orphans()
    with atomic.fresh(log) as lines:
        job = Job(
            placement,
            provenance.slurm_job().get("queued_seconds"),
            mpi_launcher.processors(mpi),
            attempts(mpi, placement, interface, output.parent.absolute(), Relay(lines)),
        )
    with atomic.replacing(output) as part:
        part.write_text(json.dumps(asdict(job), indent=1), encoding="utf-8")


def attempts(
    mpi: str, placement: str, interface: str, results: Path, log: Callable[[str], None]
) -> tuple[Attempt, ...]:
    """Try the launcher `mpi`, then others, until one puts its ranks on as many hosts as the placement has."""
    try:
        environment = mpi_launcher.surroundings(placement, interface)
    except Refusal:
        # Without the network's variables; the check of ports reports that there is no such interface.
        environment = mpi_launcher.environment_without_network()
    ranks = [sys.executable, "-m", "mpi4py", "-m", "crossover.doctor.facts", str(results), interface]
    tried: list[Attempt] = []
    for launcher in launchers(mpi):
        if not shutil.which(program := shlex.split(launcher)[0]):
            tried.append(Attempt(launcher, said=f"no program {program} on PATH"))
            continue
        log(f"doctor: trying {launcher}")
        lines: list[str] = []
        command = [*mpi_launcher.starting(launcher, RANKS, HOSTS[placement]), *ranks]
        code = mpi_launcher.run(command, environment, lines.append, LIMIT_SECONDS)
        for line in lines:
            if MARK not in line:
                log(line)
        tried.append(understood(launcher, code, lines))
        if tried[-1].on(HOSTS[placement]):
            break
    return tuple(tried)


def launchers(mpi: str) -> list[str]:
    """This launcher, then others that may work: srun with other protocols, where it exists, and MPI's own."""
    own, *options = shlex.split(mpi)
    kept = [option for option in options if not option.startswith("--mpi")] if Path(own).name == "srun" else []
    slurm = [shlex.join(["srun", f"--mpi={each}", *kept]) for each in PROTOCOLS] if shutil.which("srun") else []
    return list(dict.fromkeys([mpi, *slurm, "mpiexec"]))


def understood(mpi: str, code: int | None, lines: Sequence[str]) -> Attempt:
    """The attempt, from the output of the launcher and its ranks; `code` is None after a timeout."""
    if code is None:
        blocked = "messages between its ranks may be blocked; try another `interface`"
        return Attempt(mpi, said=f"not finished after {LIMIT_SECONDS} s; {blocked}")
    kind = tuple[tuple[str, ...], Pair | None]
    started = [json_text.read(line.partition(MARK)[2], kind) for line in lines if MARK in line]
    output = [line.strip() for line in lines if MARK not in line and line.strip()]
    last = output[-1] if output else f"ended with code {code}" if code else ""
    return Attempt(mpi, tuple(hosts for hosts, _ in started), last, started[0][1] if started else None)


# ---- the ranks


def main() -> None:
    """Run one rank."""
    ending.die_with_parent()
    shorten_values()
    from mpi4py import MPI

    results, interface = sys.argv[1:]
    comm = MPI.COMM_WORLD
    hosts = tuple(comm.allgather(socket.gethostname()))
    ending.unlink(ending.mpich_memory(os.getpid()))
    library = " ".join(MPI.Get_library_version().split("\n")[0].split())
    apart = len(set(hosts)) == RANKS
    pair = together(comm, library, Path(results), apart, interface) if len(hosts) == RANKS else None
    if comm.rank == 0:
        # In one call, so that lines of ranks in separate worlds do not mix.
        os.write(1, f"{MARK}{json.dumps([hosts, pair and asdict(pair)])}\n".encode())


def together(comm: Intracomm, library: str, results: Path, apart: bool, interface: str) -> Pair:
    """The facts of two ranks, of which each calls this; `apart` is whether they are on two hosts."""
    processors = min(comm.allgather((len(os.sched_getaffinity(0)), os.cpu_count() or 0)))
    folders = sum(comm.allgather((folder(tempfile.gettempdir()), folder(MEMORY))), ())
    offered, reason = connected(comm, apart, interface)
    shared = apart and not any(error for _, _, error in folders[::2]) and temporary_shared(comm)
    return Pair(library, processors, folders, shared, offered, reason, str(results), *written(comm, results))


def folder(path: str) -> tuple[str, int, str]:
    """The path of a folder, its free bytes, and the reason if no file can be written there."""
    error = ""
    try:
        # A test write, because a quota does not show in the free space.
        with tempfile.TemporaryFile(dir=path) as file:
            file.write(b"0" * 4096)
            file.flush()
    except OSError as reason:
        error = reason.strerror or str(reason)
    return path, shutil.disk_usage(path).free if Path(path).exists() else 0, error


def connected(comm: Intracomm, apart: bool, interface: str) -> tuple[tuple[tuple[str, str, str], ...], str]:
    """The interfaces by which the second rank tried to connect to the first; the reason if none could be chosen."""
    reason, offered = "", []
    try:
        offered = [network.reach("nodes" if apart else "node", interface)]
    except Refusal as error:
        reason = str(error)
    offered += [other for other in network.interfaces() if apart and other not in offered]
    with socket.create_server(("", 0)) as server:
        offered, reason, port = comm.allgather((offered, reason, server.getsockname()[1]))[0]
        errors = comm.allgather([_connect(reach.address, port) for reach in offered] if comm.rank else [])[1]
    both = zip(offered, errors, strict=True)
    return tuple((reach.interface, reach.address, error) for reach, error in both), reason


def _connect(address: str, port: int) -> str:
    try:
        socket.create_connection((address, port), timeout=CONNECT_SECONDS).close()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def temporary_shared(comm: Intracomm) -> bool:
    """Whether the second rank sees a file in the first one's temporary folder."""
    with tempfile.NamedTemporaryFile(prefix="crossover-doctor-") as mark:
        return bool(comm.allgather(Path(comm.allgather(mark.name)[0]).exists())[1])


def written(comm: Intracomm, results: Path) -> tuple[str, float | None]:
    """The first rank writes a file to the folder of results; the second waits for it.

    The second rank asks for the file before it exists, as Snakemake does, because some file systems cache the answer.
    """
    file = results / comm.allgather(f".doctor-{uuid.uuid4().hex}")[0]
    comm.allgather(file.exists())
    error = ""
    if comm.rank == 0:
        try:
            with atomic.replacing(file, step="") as part:
                part.write_bytes(b"0" * 4096)
        except CrossoverError as reason:
            error = str(reason).rstrip("; ")
    error = comm.allgather(error)[0]
    seen = comm.allgather(_until_seen(file) if comm.rank and not error else None)[1]
    if comm.rank == 0 and not error:
        file.unlink()
    return error, seen


def _until_seen(file: Path) -> float | None:
    """The time until the file is seen, in seconds; None after the limit."""
    start = time.perf_counter()
    while time.perf_counter() - start < FILE_SECONDS:
        with suppress(FileNotFoundError):
            file.read_bytes()
            return time.perf_counter() - start
        time.sleep(0.001)
    return None


if __name__ == "__main__":
    main()
