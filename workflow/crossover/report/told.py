"""What a page is told by whoever renders it, through the environment of the kernel in which its cells run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

RESULTS_VARIABLE = "CROSSOVER_RESULTS"
"""The environment variable that names the results folder for the cells of a page."""

WAITING_VARIABLE = "CROSSOVER_WAITING"
"""The one that says what other runs would measure besides, as JSON: {"tiers": {experiment: {tier: {key: entries}}},
"hosts": {experiment: {placement: hosts that it takes}}}."""


class PageError(Exception):
    """Something the page needs is missing; the message says what and how to get it."""


def results(command: str) -> Path:
    """The folder that the page is about. Raises PageError, which names the `command` that makes the page."""
    folder = os.environ.get(RESULTS_VARIABLE)
    if not folder:
        raise PageError(f"{RESULTS_VARIABLE} is not set; make the page by: python -m crossover {command}")
    return Path(folder)


def waiting() -> dict[str, Any]:
    """What other runs would measure besides."""
    told: dict[str, Any] = json.loads(os.environ.get(WAITING_VARIABLE) or "{}")
    return told
