"""Programs of others, such as Quarto, Slurm's and git: run to their end, in the user's environment."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

ADDED = ("PYTHONPATH", "PYTHONSAFEPATH", "PYTHONNOUSERSITE")
"""The variables that a run sets for its own Python. With a SAFEPATH, Quarto does not find its own modules."""


def environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """The user's environment, which lacks ADDED, with these `variables`."""
    return {name: value for name, value in os.environ.items() if name not in ADDED} | {**(variables or {})}


def run(
    command: Sequence[str | Path],
    *,
    text: str = "",
    folder: Path | None = None,
    seconds: float | None = None,
    variables: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program with `text` as its input. Raises OSError, and subprocess.TimeoutExpired after `seconds`."""
    return subprocess.run(
        command,
        input=text,
        cwd=folder,
        env=environment(variables),
        timeout=seconds,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
    )
