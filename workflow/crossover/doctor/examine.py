"""A job of the doctor: starts two ranks like a launch, on one host or two, and records their facts."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from typing import Any

from crossover.doctor.launching import Job, attempts
from crossover.measure.launch import mpi_launcher
from crossover.measure.machine import provenance
from crossover.measure.processes.log import Relay
from crossover.records import atomic


def examine(mpi: str, job: Job, output: Path, log: Path) -> None:
    """Run a job, and write its facts to `output` as JSON and its output to `log`; `mpi` is the site's launcher."""
    with log.open("wb", buffering=0) as lines:
        found: dict[str, Any] = {
            "host": socket.gethostname(),
            "processors": mpi_launcher.processors(mpi),
            "job": provenance.slurm_delays(time.time()),
        }
        found["attempts"], found["pair"] = attempts(mpi, job, Relay(lines))
    write(found, output)


def write(found: dict[str, Any], output: Path) -> None:
    """Write facts to a file, whole or not at all."""
    with atomic.replacing(output) as part:
        part.write_text(json.dumps(found, indent=1), encoding="utf-8")
