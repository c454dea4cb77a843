"""One job of the doctor: on one host or two, start two ranks as a launch would, and write down what they saw."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

from crossover.doctor.checks.executor import job
from crossover.doctor.launching import attempts
from crossover.measure.relay import Relay

HOSTS = {"node": 1, "nodes": 2}
"""Hosts of each placement."""


def hosts(wildcards: Any) -> int:
    """Hosts that a job needs, by its wildcards."""
    return HOSTS[wildcards.placement]


def examine(placement: str, mpi: str, output: Path, log: Path) -> None:
    """Write to `output`, as JSON, what a job of this placement sees; `mpi` is the launcher of the site."""
    with log.open("wb", buffering=0) as lines:
        found: dict[str, Any] = {"host": socket.gethostname(), "job": job()}
        found["attempts"], found["pair"] = attempts(mpi, HOSTS[placement], output.parent.absolute(), Relay(lines))
    write(found, output)


def write(found: dict[str, Any], output: Path) -> None:
    """Write facts to a file, whole or not at all."""
    part = output.with_name(f".{output.name}.{socket.gethostname()}.part")
    part.write_text(json.dumps(found, indent=1), encoding="utf-8")
    part.replace(output)
