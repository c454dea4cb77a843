"""Watches the doctor's jobs in Slurm's queue: prints why they wait, and cancels a job that would wait for ever.

Does Slurm remember ended jobs for as long as Snakemake may take to notice their end?
"""

import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crossover.doctor.attempt import HOSTS
from crossover.doctor.finding import NOT_RUN, Finding, Seen, Verdict
from crossover.slurm import controller
from crossover.slurm.acceptance import HOPELESS

POLL_SECONDS = 1.0
UNSEEN_SECONDS = 15.0
"""After this time, a job that is not in the queue was refused, or has already ended."""
ASK_SECONDS = 30
LOOKS_SECONDS = 180
"""The longest time between two looks of Snakemake's plugin for ended jobs."""
SHORT_SECONDS = 60
"""With a shorter memory, the ends of short launches are missed too."""
FORMAT = "%i|%T|%r|%k|%Z"


@dataclass(frozen=True)
class Queued:
    """A job in the queue."""

    number: str
    waits: bool
    reason: str
    """Slurm's reason for waiting."""


def look() -> dict[str, Any]:
    """The reason for each job that is cancelled, by placement, and how Slurm remembers ended jobs."""
    found = controller.configuration()
    ended = {"accounts": controller.keeps_accounts(found), "seconds": controller.remembers_seconds(found)}
    return watch() | {"ended": ended}


def judge(seen: Seen) -> Finding:
    """Without accounts, Snakemake waits for a job without end if Slurm forgets it between two looks."""
    if seen.executor != "slurm":
        return Finding(Verdict.OK, "not needed without Slurm")
    found = seen.here["queue"].get("ended")
    if not found:
        return NOT_RUN
    if found["accounts"]:
        return Finding(Verdict.OK, "Slurm keeps accounts of ended jobs")
    if found["seconds"] is None:
        return Finding(Verdict.UNKNOWN, "Slurm did not say for how long it remembers ended jobs")
    text = f"Slurm keeps no accounts, and remembers ended jobs for {found['seconds']} s (MinJobAge)"
    if found["seconds"] >= LOOKS_SECONDS:
        return Finding(Verdict.OK, text)
    step = "ask the administrators to set MinJobAge=300 in slurm.conf, which is Slurm's default"
    if found["seconds"] < SHORT_SECONDS:
        return Finding(Verdict.PROBLEM, f"{text}; Snakemake would wait for forgotten jobs without end", step=step)
    return Finding(Verdict.WARNING, f"{text}; during long launches Snakemake looks every {LOOKS_SECONDS} s", step=step)


def watch() -> dict[str, str]:
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
            ["squeue", "--noheader", f"--format={FORMAT}"],
            capture_output=True,
            timeout=ASK_SECONDS,
            encoding="utf-8",
            errors="replace",
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
