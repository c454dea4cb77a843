"""A job of the doctor: starts two ranks like a launch, on one host or two, and records their facts.

If the site's launcher does not start them together, the job tries others.
"""

import json
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from crossover.doctor.attempt import HOSTS, RANKS, hosts, together
from crossover.doctor.finding import Facts
from crossover.doctor.pair import MARK
from crossover.measure.launch import mpi_launcher
from crossover.measure.machine import provenance
from crossover.measure.processes.ending import adopt_orphans
from crossover.measure.processes.log import Relay
from crossover.records import atomic
from crossover.records.holes import Refusal
from crossover.slurm import partition

LIMIT_SECONDS = 20
"""Time limit for two ranks. They start within two seconds, and the checks wait for a file for at most ten."""


def examine(mpi: str, placement: str, interface: str, output: Path, log: Path) -> None:
    """Run a job, and write its facts to `output` as JSON and its output to `log`; `mpi` is the site's launcher."""
    adopt_orphans()
    with log.open("wb", buffering=0) as lines:
        found: dict[str, Any] = {
            "host": socket.gethostname(),
            "processors": mpi_launcher.processors(mpi),
            "job": provenance.slurm_job(time.time()),
            "partition": partition.of_job(),
        }
        found["attempts"], found["pair"] = attempts(mpi, placement, interface, output.parent.absolute(), Relay(lines))
    write(found, output)


def write(found: dict[str, Any], output: Path) -> None:
    """Write facts to a file, whole or not at all."""
    with atomic.replacing(output) as part:
        part.write_text(json.dumps(found, indent=1), encoding="utf-8")


def attempts(
    mpi: str, placement: str, interface: str, shared: Path, log: Callable[[str], None]
) -> tuple[list[Facts], Facts]:
    """Try the launcher `mpi`, then others, until one puts its ranks on as many hosts as the placement has.

    The ranks use the folder `shared`, which all hosts should see. Returns every attempt, and the ranks' facts from the
    successful one. Output is passed to `log`, line by line.
    """
    try:
        environment = mpi_launcher.surroundings(placement, interface)
    except Refusal:
        # Without the network's variables; `ports` reports that there is no such interface.
        environment = mpi_launcher.environment_without_network()
    ranks = [sys.executable, "-m", "mpi4py", "-m", "crossover.doctor.rank", str(shared), interface]
    found: list[Facts] = []
    for launcher in _worth_trying(mpi):
        if shutil.which(program := shlex.split(launcher)[0]):
            log(f"doctor: trying {launcher}")
            command = [*mpi_launcher.starting(launcher, RANKS, HOSTS[placement]), *ranks]
            lines: list[str] = []
            code = mpi_launcher.run(command, environment, lines.append, LIMIT_SECONDS)
            for line in lines:
                if MARK not in line:
                    log(line)
            attempt, pair = understood(launcher, code, lines)
        else:
            attempt, pair = {"mpi": launcher, "worlds": [], "said": f"no program {program} on PATH"}, {}
        found.append(attempt)
        if together(attempt) and len(hosts(attempt)) == HOSTS[placement]:
            return found, pair
    return found, {}


def understood(mpi: str, code: int | None, lines: Sequence[str]) -> tuple[Facts, Facts]:
    """The attempt and its ranks' facts, parsed from output lines; `code` is None after a timeout."""
    if code is None:
        blocked = "messages between its ranks may be blocked; try another `interface`"
        return {"mpi": mpi, "worlds": [], "said": f"not finished after {LIMIT_SECONDS} s; {blocked}"}, {}
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
    with suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(
            ["srun", "--mpi=list"],
            capture_output=True,
            timeout=LIMIT_SECONDS,
            encoding="utf-8",
            errors="replace",
        )
        return protocols(done.stdout + done.stderr)
    return []


def protocols(listed: str) -> list[str]:
    """The protocols that `srun --mpi=list` names, the most widely supported first.

    >>> protocols("MPI plugin types are...\\n\\tcray_shasta\\n\\tnone\\n\\tpmi2\\nspecific versions available: pmix_v4")
    ['pmi2', 'cray_shasta']
    """
    named = re.findall(r"^\s+(\w+)$", listed, re.MULTILINE)
    return sorted((name for name in named if name != "none"), key=lambda name: (not name.startswith("pmi"), name))
