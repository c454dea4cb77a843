"""Starts the two ranks of a job with the site's launcher, and with others if these ranks do not start together."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from crossover.doctor.attempt import HOSTS, RANKS, hosts, together
from crossover.doctor.finding import Facts
from crossover.doctor.pair import MARK
from crossover.measure.launch.mpi_launcher import starting, surroundings, wishes
from crossover.measure.processes.ending import GRACE_SECONDS
from crossover.records.holes import Refusal

LIMIT_SECONDS = 20
"""Time limit for two ranks. They start within two seconds, and the checks wait for a file for at most ten."""

BLOCKED = "; messages between its ranks may be blocked; try another `interface`"


@dataclass(frozen=True)
class Job:
    """A job: the ranks of a placement, connected by a network interface."""

    placement: str
    interface: str
    shared: Path
    """A folder that all hosts should see."""


def attempts(mpi: str, job: Job, log: Callable[[str], None]) -> tuple[list[Facts], Facts]:
    """Try the launcher `mpi`, then others, until one puts its ranks on as many hosts as the placement has.

    Returns every attempt, and the ranks' facts from the successful one. Output is passed to `log`, line by line.
    """
    found: list[Facts] = []
    for launcher in _worth_trying(mpi):
        attempt, pair = _attempt(launcher, job, log)
        found.append(attempt)
        if together(attempt) and len(hosts(attempt)) == HOSTS[job.placement]:
            return found, pair
    return found, {}


def _attempt(mpi: str, job: Job, log: Callable[[str], None]) -> tuple[Facts, Facts]:
    if not shutil.which(program := shlex.split(mpi)[0]):
        return {"mpi": mpi, "worlds": [], "said": f"no program {program} on PATH"}, {}
    ranks = [sys.executable, "-m", "mpi4py", "-m", "crossover.doctor.rank"]
    ranks += ["--shared", str(job.shared), "--interface", job.interface]
    # The guard ends all processes that the launcher leaves behind.
    started = starting(mpi, RANKS, HOSTS[job.placement])
    guarded = [sys.executable, "-m", "crossover.measure.processes.ending", *started, *ranks]
    log(f"doctor: trying {mpi}")
    process = subprocess.Popen(
        guarded,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=_environment(job),
        start_new_session=True,
    )
    assert process.stdout is not None
    lines: list[str] = []
    relay = threading.Thread(target=_relay, args=(process.stdout, lines, log), daemon=True)
    relay.start()
    try:
        code = process.wait(LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        code = None
    finally:
        process.terminate()
        process.wait()
    relay.join(GRACE_SECONDS)
    return understood(mpi, code, list(lines))


def _environment(job: Job) -> dict[str, str]:
    """A launch's environment; without the network's variables if the interface is missing, which `ports` reports."""
    try:
        return surroundings(job.placement, job.interface)
    except Refusal:
        return wishes()


def _relay(stream: IO[str], lines: list[str], log: Callable[[str], None]) -> None:
    for line in stream:
        lines.append(line.rstrip("\n"))
        if MARK not in line:
            log(lines[-1])


def understood(mpi: str, code: int | None, lines: Sequence[str]) -> tuple[Facts, Facts]:
    """The attempt and its ranks' facts, parsed from output lines; `code` is None after a timeout."""
    if code is None:
        return {"mpi": mpi, "worlds": [], "said": f"not finished after {LIMIT_SECONDS} s{BLOCKED}"}, {}
    worlds = [json.loads(line.partition(MARK)[2]) for line in lines if MARK in line]
    pair: Facts = next(filter(None, [world.pop("pair", {}) for world in worlds]), {})
    output = [line.strip() for line in lines if MARK not in line and line.strip()]
    said = output[-1] if output else f"ended with code {code}" if code else ""
    return {"mpi": mpi, "worlds": worlds, "said": said}, pair


def _worth_trying(mpi: str) -> list[str]:
    """This launcher, then others that may work here: srun with each protocol that it lists, and MPI's own."""
    own, *options = shlex.split(mpi)
    kept = [option for option in options if not option.startswith("--mpi")] if Path(own).name == "srun" else []
    slurm = [shlex.join(["srun", f"--mpi={protocol}", *kept]) for protocol in _protocols()]
    return list(dict.fromkeys([mpi, *slurm, "mpiexec"]))


def _protocols() -> list[str]:
    """The protocols with which Slurm can start MPI; none without Slurm."""
    try:
        done = subprocess.run(["srun", "--mpi=list"], capture_output=True, text=True, timeout=LIMIT_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return protocols(done.stdout + done.stderr)


def protocols(listed: str) -> list[str]:
    """The protocols that `srun --mpi=list` names, the most widely supported first.

    >>> protocols("MPI plugin types are...\\n\\tcray_shasta\\n\\tnone\\n\\tpmi2\\nspecific versions available: pmix_v4")
    ['pmi2', 'cray_shasta']
    """
    named = re.findall(r"^\s+(\w+)$", listed, re.MULTILINE)
    return sorted((name for name in named if name != "none"), key=lambda name: (not name.startswith("pmi"), name))
