"""Slurm's facts about the job of this process."""

from __future__ import annotations

import os
import re
import subprocess
from datetime import datetime


def delays(began: float) -> dict[str, float]:
    """The seconds that this job waited in the queue, and those from its start to `began` (in seconds since 1970).

    As {queued_seconds, entering_seconds}; empty outside Slurm, or if Slurm does not answer.
    """
    job = os.environ.get("SLURM_JOB_ID")
    if job is None:
        return {}
    try:
        answer = subprocess.run(
            ["scontrol", "--oneliner", "show", "job", job], capture_output=True, text=True, timeout=10
        ).stdout
        submitted, started = (_time(answer, name) for name in ("SubmitTime", "StartTime"))
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return {}
    return {"queued_seconds": started - submitted, "entering_seconds": began - started}


def _time(answer: str, name: str) -> float:
    """A time of the job, which Slurm gives in whole seconds of local time. Raises ValueError if there is none."""
    found = re.search(rf"\b{name}=(\S+)", answer)
    return datetime.fromisoformat(found[1] if found else "").timestamp()
