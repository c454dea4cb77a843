"""A job of the doctor: starts two ranks like a launch, on one host or two, and records their facts.

If the site's launcher does not start them together, the job tries others. Each rank is
`<launcher> -n 2 python -m mpi4py -m crossover.doctor.job RESULTS_FOLDER INTERFACE`. Rank 0 writes its facts to standard
output as a line of JSON after MARK, because shared files may not work yet.
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
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from crossover.doctor import facts
from crossover.doctor.facts import HOSTS, MEMORY, RANKS, Attempt, Folder, Interface, Job, Pair, Rank, World, Written
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

MARK = "crossover-doctor "
LIMIT_SECONDS = 20
"""Time limit for two ranks. They start within two seconds, and wait for a file for at most ten."""
CONNECT_SECONDS = 1.0
"""Time limit of a connection; a firewall that drops packets never answers."""
FILE_SECONDS = 10.0
"""Time limit of waiting for a file."""
PROTOCOLS = ("pmi2", "pmix", "cray_shasta")
"""Slurm's ways to start MPI; srun refuses at once one that it does not have."""


def examine(mpi: str, placement: str, interface: str, output: Path, log: Path) -> None:
    """Run a job, and write its facts to `output` and its output to `log`; `mpi` is the site's launcher."""
    ending.adopt_orphans()
    with log.open("wb", buffering=0) as lines:
        job = Job(
            placement,
            provenance.slurm_job(time.time()).get("queued_seconds"),
            mpi_launcher.processors(mpi),
            attempts(mpi, placement, interface, output.parent.absolute(), Relay(lines)),
        )
    facts.write(job, output)


def attempts(
    mpi: str, placement: str, interface: str, results: Path, log: Callable[[str], None]
) -> tuple[Attempt, ...]:
    """Try the launcher `mpi`, then others, until one puts its ranks on as many hosts as the placement has."""
    try:
        environment = mpi_launcher.surroundings(placement, interface)
    except Refusal:
        # Without the network's variables; the check of ports reports that there is no such interface.
        environment = mpi_launcher.environment_without_network()
    ranks = [sys.executable, "-m", "mpi4py", "-m", "crossover.doctor.job", str(results), interface]
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
    worlds = tuple(json_text.read(line.partition(MARK)[2], World) for line in lines if MARK in line)
    output = [line.strip() for line in lines if MARK not in line and line.strip()]
    return Attempt(mpi, worlds, output[-1] if output else f"ended with code {code}" if code else "")


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
    pair = together(comm, Path(results), len(set(hosts)) == RANKS, interface) if len(hosts) == RANKS else None
    if comm.rank == 0:
        world = World(hosts, " ".join(MPI.Get_library_version().split("\n")[0].split()), pair)
        # In one call, so that lines of ranks in separate worlds do not mix.
        os.write(1, f"{MARK}{json.dumps(asdict(world))}\n".encode())


def together(comm: Intracomm, results: Path, apart: bool, interface: str) -> Pair:
    """The facts of two ranks, of which each calls this; `apart` is whether they are on two hosts."""
    folders = tuple(map(folder, (Path(tempfile.gettempdir()), MEMORY)))
    own = Rank(len(os.sched_getaffinity(0)), os.cpu_count() or 0, folders)
    ranks = tuple(comm.allgather(own))
    offered, reason = connected(comm, apart, interface)
    shared = apart and not any(rank.folders[0].error for rank in ranks) and temporary_shared(comm)
    return Pair(ranks, offered, reason, shared, written(comm, results))


def folder(path: Path) -> Folder:
    """The space in a folder, and whether a file can be written."""
    error = ""
    try:
        # A test write, because a quota does not show in the free space.
        with tempfile.TemporaryFile(dir=path) as file:
            file.write(b"0" * 4096)
            file.flush()
    except OSError as reason:
        error = reason.strerror or str(reason)
    return Folder(str(path), shutil.disk_usage(path).free if path.exists() else 0, error)


def connected(comm: Intracomm, apart: bool, interface: str) -> tuple[tuple[Interface, ...], str]:
    """The interfaces by which the second rank tried to connect to the first; the reason if none could be chosen."""
    with socket.create_server(("", 0)) as server:
        found, reason, port = comm.allgather((*interfaces(apart, interface), server.getsockname()[1]))[0]
        errors = comm.allgather([_connect(each.address, port) for each in found] if comm.rank else [])[1]
    return tuple(replace(each, error=error) for each, error in zip(found, errors, strict=True)), reason


def interfaces(apart: bool, interface: str) -> tuple[list[Interface], str]:
    """The interfaces that another host could reach, the one for launches first; the reason if none can be chosen."""
    reason, chosen = "", []
    try:
        chosen = [network.reach("nodes" if apart else "node", interface)]
    except Refusal as error:
        reason = str(error)
    others = [each for each in network.interfaces() if each not in chosen] if apart else []
    found = []
    for each in chosen + others:
        device, speed = network.DEVICES / each.interface, 0
        with suppress(OSError, ValueError):
            speed = int((device / "speed").read_text(encoding="utf-8"))
        rdma = (device / "device/infiniband").exists()
        found.append(Interface(each.interface, each.address, each in chosen, max(speed, 0), rdma))
    return found, reason


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


def written(comm: Intracomm, results: Path) -> Written:
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
    return Written(str(results), error, seen)


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
