"""Jobs of Slurm that an earlier run of the same folder has left, because Snakemake was killed: they are cancelled.

They would measure the same launches as this run. The launches that they finished are kept. Jobs are found by their
name, which belongs to the folder of results, so those of other folders and of other workflows are left alone.
"""

import subprocess
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from crossover.errors import CrossoverError

LIMIT_SECONDS = 120
"""Slurm kills a cancelled job after its KillWait, by default half a minute."""

POLL_SECONDS = 0.5


def name(results: str | Path) -> str:
    """The start of the names of the jobs that measure into this folder."""
    return f"crossover-{sha256(str(Path(results).resolve()).encode()).hexdigest()[:12]}"


def cancel(results: str | Path) -> str:
    """Cancel this user's jobs for this folder, and wait until they are gone; returns a line about them, or nothing.

    Raises CrossoverError if Slurm does not answer, or if a job does not end.
    """
    found = _jobs(name(results))
    if not found:
        return ""
    _ask("scancel", *found)
    limit = time.monotonic() + LIMIT_SECONDS
    while left := _jobs(name(results)):
        if time.monotonic() > limit:
            raise CrossoverError(
                f"jobs {', '.join(left)} of an earlier run in {results} do not end; cancel them with `scancel`, then "
                "repeat the command"
            )
        time.sleep(POLL_SECONDS)
    jobs = "1 job" if len(found) == 1 else f"{len(found)} jobs"
    waiting = list(found.values()).count("PENDING")
    states = f"{len(found) - waiting} running, {waiting} waiting"
    return (
        f"cancelled {jobs} that an earlier run in {results} had left in Slurm ({states}); the launches that they "
        "finished are kept"
    )


def forget(results: str | Path) -> None:
    """Cancel this user's jobs for this folder, without waiting for their end or for an answer."""
    with suppress(CrossoverError):
        if found := _jobs(name(results)):
            _ask("scancel", *found)


def _jobs(start: str) -> dict[str, str]:
    """The state of each of this user's jobs whose name begins so, by its number."""
    rows = [line.split(maxsplit=2) for line in _ask("squeue", "--me", "--noheader", "--format=%i %T %j").splitlines()]
    return {number: state for number, state, job in rows if job.startswith(start)}


def _ask(*command: str) -> str:
    try:
        return subprocess.run(
            command, capture_output=True, timeout=60, check=True, encoding="utf-8", errors="replace"
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        reason = (getattr(error, "stderr", None) or str(error)).strip()
        raise CrossoverError(
            f"cannot find out whether an earlier run has left jobs in Slurm ({command[0]}: {reason}); when Slurm "
            "answers, repeat the command"
        ) from error
