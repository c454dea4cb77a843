"""Renderer inputs, passed to the cells of a page through environment variables."""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from crossover.errors import CrossoverError
from crossover.planning.command import SHARED
from crossover.records import failure, record
from crossover.records.failure import Failure
from crossover.records.holes import is_hole

RESULTS_VARIABLE = "CROSSOVER_RESULTS"
"""The environment variable that names the results folder for the cells of a page."""

WAITING_VARIABLE = "CROSSOVER_WAITING"
"""The variable for measurements of other runs, as JSON: {"tiers": {experiment: {tier: {key: entries}}}, "hosts":
{experiment: {placement: hosts needed}}, "too_few_nodes": why a cluster has too few hosts, or "",
"withheld": {arm of a farm that does not authenticate: [experiments]}, "partial": [[remark, command or ""], ...],
"command": the run's command, as planning.command stores it, if the run has holes}. The remarks list the launches
that a partial run uses and leaves out."""

FAILURES_VARIABLE = "CROSSOVER_FAILURES"
"""The variable with the name of the JSON file of a page's failed parts."""


def results(command: str) -> Path:
    """The folder of results of the page: the variable's, or that of a run in this folder, if Quarto is called by hand.

    Raises CrossoverError, which names the `command` that makes the page.
    """
    beside = Path("../results")
    folder = os.environ.get(RESULTS_VARIABLE) or (str(beside) if (beside / "launches.parquet").exists() else "")
    if not folder:
        raise CrossoverError(f"{RESULTS_VARIABLE} is not set; make the page with: crossover {command}")
    return Path(folder)


def waiting() -> dict[str, Any]:
    """The measurements of other runs, as WAITING_VARIABLE describes them."""
    found: dict[str, Any] = json.loads(os.environ.get(WAITING_VARIABLE) or "{}")
    return found


def joined(waiting: str, command: str, results: Path) -> str:
    """The text of WAITING_VARIABLE with the run's `command`, both as JSON, if the run in `results` has holes.

    Without holes the page needs no command, and the same results give the same page.
    """
    if command and _has_holes(results):
        return json.dumps(json.loads(waiting) | {"command": json.loads(command)})
    return waiting


def shared(waiting: Mapping[str, Any], results: Path) -> dict[str, Any]:
    """The inputs of a page for others: without any command to paste, for launches left out or for holes."""
    partial = [[remark, ""] for remark, *_ in waiting.get("partial", [])]
    found = {**waiting, **({"partial": partial} if partial else {})}
    found.pop("command", None)
    return found | ({"command": SHARED} if _has_holes(results) else {})


def _has_holes(results: Path) -> bool:
    with suppress(record.RecordError):
        return any(map(is_hole, record.read(results / "launches.parquet", record.LAUNCHES).to_pylist()))
    return False


def failures() -> list[Failure]:
    """The parts of the page that failed in the previous rendering, and those that have failed since."""
    path = os.environ.get(FAILURES_VARIABLE)
    return failure.of(Path(path)) if path else []


def add(failed: Sequence[Failure]) -> None:
    """Pass failed parts of the page to the renderer."""
    if failed and (path := os.environ.get(FAILURES_VARIABLE)):
        Path(path).write_text(json.dumps(failure.stored([*failures(), *failed])), encoding="utf-8")
