"""Watches the doctor's jobs in Slurm's queue: prints why they wait, and cancels a job that would wait for ever."""

import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from crossover.doctor.attempt import HOSTS
from crossover.run.slurm_check import HOPELESS

POLL_SECONDS = 1.0
UNSEEN_SECONDS = 15.0
"""After this time, a job that is not in the queue was refused, or has already ended."""
ASK_SECONDS = 30
FORMAT = "%i|%T|%r|%k|%Z"


@dataclass(frozen=True)
class Queued:
    """A job in the queue."""

    number: str
    waits: bool
    reason: str
    """Slurm's reason for waiting."""


def look() -> dict[str, str]:
    """Watch until the job of each placement runs or has ended; returns the reason for each cancelled job."""
    withdrawn: dict[str, str] = {}
    printed: dict[str, str] = {}
    before: dict[str, Queued] = {}
    unseen = set(HOSTS)
    start = time.monotonic()
    while (answer := _ask()) is not None:
        found = jobs(answer, Path.cwd())
        unseen -= set(found)
        waiting = {placement: job for placement, job in found.items() if job.waits and placement not in withdrawn}
        for placement, job in waiting.items():
            # Slurm's first reason means nothing, because it has not examined the job yet.
            if before.get(placement) == job and printed.get(placement) != job.reason:
                printed[placement] = job.reason
                print(f"doctor: the job of placement {placement} waits: {job.reason}", file=sys.stderr, flush=True)
            if job.reason in HOPELESS:
                withdrawn[placement] = f"it would wait for ever, because of Slurm's {job.reason}"
                subprocess.run(["scancel", job.number], capture_output=True)
        if not waiting and (not unseen or time.monotonic() - start > UNSEEN_SECONDS):
            break
        before = waiting
        time.sleep(POLL_SECONDS)
    return withdrawn


def _ask() -> str | None:
    """Slurm's queue, or None without Slurm."""
    try:
        done = subprocess.run(
            ["squeue", "--noheader", f"--format={FORMAT}"], capture_output=True, text=True, timeout=ASK_SECONDS
        )
    except FileNotFoundError:
        return None
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout


def jobs(answer: str, folder: Path) -> dict[str, Queued]:
    """The doctor's jobs of this working folder, by placement, from squeue's answer in FORMAT."""
    found = {}
    for line in answer.splitlines():
        number, state, reason, comment, where = (*line.split("|", 4), "", "", "", "")[:5]
        # Snakemake's executor leaves the rule and its wildcards in the comment.
        if (rule := re.fullmatch(r"rule_examine_wildcards_(\w+)", comment)) and where == str(folder):
            found[rule[1]] = Queued(number, state == "PENDING", reason)
    return found
