"""Renderer inputs, passed to the cells of a page through environment variables."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crossover.errors import CrossoverError
from crossover.records import failure
from crossover.records.failure import Failure

RESULTS_VARIABLE = "CROSSOVER_RESULTS"
"""The environment variable that names the results folder for the cells of a page."""

WAITING_VARIABLE = "CROSSOVER_WAITING"
"""The variable for measurements of other runs, as JSON: {"tiers": {experiment: {tier: {key: entries}}}, "hosts":
{experiment: {placement: hosts needed}}, "too_few_nodes": why a cluster has too few hosts, or "",
"withheld": {arm of a farm that does not authenticate: [experiments]}, "partial": [remark, ...]}. The remarks
list the launches that a partial run uses and leaves out."""

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


def failures() -> list[Failure]:
    """The parts of the page that failed in the previous rendering, and those that have failed since."""
    path = os.environ.get(FAILURES_VARIABLE)
    return failure.of(Path(path)) if path else []


def add(failed: Sequence[Failure]) -> None:
    """Pass failed parts of the page to the renderer."""
    if failed and (path := os.environ.get(FAILURES_VARIABLE)):
        Path(path).write_text(json.dumps(failure.stored([*failures(), *failed])), encoding="utf-8")
