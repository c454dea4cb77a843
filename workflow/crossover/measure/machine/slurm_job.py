"""Slurm's facts about the job of this process."""

from __future__ import annotations

import os
import re
import subprocess
from datetime import datetime


def delays(began: float) -> dict[str, float]:
    """Seconds that a job waited for its nodes, and then until `began` (in seconds since 1970): {queued_, entering_}.

    Empty outside Slurm, or if Slurm does not answer.
    """
    job = os.environ.get("SLURM_JOB_ID")
    if job is None:
        return {}
    try:
        asked = subprocess.run(
            ["scontrol", "--oneliner", "show", "job", job], capture_output=True, text=True, timeout=10
        ).stdout
        submitted, started = (_time(asked, name) for name in ("SubmitTime", "StartTime"))
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return {}
    return {"queued_seconds": started - submitted, "entering_seconds": began - started}


def _time(told: str, name: str) -> float:
    """A time of the job, which Slurm gives in whole seconds of local time. Raises ValueError if there is none."""
    found = re.search(rf"\b{name}=(\S+)", told)
    return datetime.fromisoformat(found[1] if found else "").timestamp()
