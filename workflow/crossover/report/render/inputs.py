"""What a page is told by whoever renders it, through the environment of the kernel in which its cells run."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from crossover.errors import CrossoverError
from crossover.records.failure import Failure

RESULTS_VARIABLE = "CROSSOVER_RESULTS"
"""The environment variable that names the results folder for the cells of a page."""

WAITING_VARIABLE = "CROSSOVER_WAITING"
"""The one that says what the page leaves to other runs, as JSON: {"tiers": {experiment: {tier: {key: entries}}},
"hosts": {experiment: {placement: hosts that it takes}}, "partial": [[remark, command or ""], ...]}; the remarks of a
partial run say which launches it takes, and which it leaves out."""

FAILURES_VARIABLE = "CROSSOVER_FAILURES"
"""The one that names the file in which the parts of a page that fail are gathered, one JSON object a line."""


def results(command: str) -> Path:
    """The folder that the page is about. Raises CrossoverError, which names the `command` that makes the page."""
    folder = os.environ.get(RESULTS_VARIABLE)
    if not folder:
        raise CrossoverError(f"{RESULTS_VARIABLE} is not set; make the page by: python -m crossover {command}")
    return Path(folder)


def waiting() -> dict[str, Any]:
    """What the page leaves to other runs, as WAITING_VARIABLE describes it."""
    told: dict[str, Any] = json.loads(os.environ.get(WAITING_VARIABLE) or "{}")
    return told


def failures() -> list[Failure]:
    """The parts of the page that failed when it was rendered before."""
    path = os.environ.get(FAILURES_VARIABLE)
    return read_failures(Path(path)) if path else []


def add(failed: Sequence[Failure]) -> None:
    """Tell the renderer which parts failed."""
    path = os.environ.get(FAILURES_VARIABLE)
    if failed and path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(asdict(each))}\n" for each in failed)


def read_failures(path: Path) -> list[Failure]:
    """The failures in such a file, each once."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return list(dict.fromkeys(Failure(**json.loads(line)) for line in lines))
