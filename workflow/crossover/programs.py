"""Programs of others, such as Quarto, Slurm's and git: run to their end, in the user's environment."""

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from crossover.errors import CrossoverError

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


PATIENCE_SECONDS, ATTEMPT_SECONDS, PAUSE_SECONDS = 60.0, 30.0, 1.0
"""How long a question to Slurm is repeated, as its own clients would; the longest attempt; the pause after one."""

QUIET_SECONDS = 5.0
"""After this time, a line says which program the run waits for."""

SILENT = re.compile(
    "unable to contact|standby|shutting down|timed out|connection|zero bytes|header lengths|unexpected message"
    "|message (send|receive)|transport endpoint|resource temporarily",
    re.IGNORECASE,
)
"""Slurm's words for a controller that does not answer."""

ABSENT = 127
"""The exit code of a program that does not exist, as in a shell, or that no cluster is configured for."""

NO_CLUSTER = "Could not establish a configuration source"
"""Words of Slurm's programs on a machine that belongs to no cluster."""


def ask(*command: str, refuses: bool = False, quiet: bool = False) -> subprocess.CompletedProcess[str]:
    """What a program of Slurm answers; with the exit code ABSENT if it does not exist.

    An attempt that fails or takes too long is repeated. With `refuses`, a failure whose words are not SILENT is an
    answer too. Raises CrossoverError if no answer comes.
    """
    began, words = time.monotonic(), ""
    waiting = f"waiting for Slurm ({command[0]}) ..."
    # The display replaces sys.stderr.
    notice = threading.Timer(QUIET_SECONDS, lambda: quiet or print(waiting, file=sys.stderr, flush=True))
    notice.daemon = True
    notice.start()
    try:
        while (left := PATIENCE_SECONDS - (time.monotonic() - began)) > PAUSE_SECONDS:
            limit = min(left, ATTEMPT_SECONDS)
            try:
                done = run(command, seconds=limit)
            except subprocess.TimeoutExpired:
                words = words or f"no answer within {limit:.0f} s"
            except (FileNotFoundError, PermissionError):
                return subprocess.CompletedProcess(command, ABSENT, "", "")
            else:
                said = done.stderr.strip()
                if NO_CLUSTER in said:
                    return subprocess.CompletedProcess(command, ABSENT, "", "")
                if done.returncode == 0 or (refuses and said and not SILENT.search(said)):
                    return done
                words = (said or f"ended with code {done.returncode}").splitlines()[-1]
            time.sleep(PAUSE_SECONDS)
    finally:
        notice.cancel()
    words = words.removeprefix(f"{command[0]}: ").removeprefix("error: ")
    raise CrossoverError(f"Slurm does not answer: {command[0]}: {words}; repeat the command when it does")
