"""Watches a run's jobs in Slurm's queue, and says why they wait."""

import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from crossover.paths import SITE
from crossover.slurm import refusals
from crossover.slurm.acceptance import HOPELESS, meaning

POLL_SECONDS = 20.0
"""A look costs the controller a query, as one of Snakemake's does."""

UNEXAMINED = ("", "None")
"""Slurm's reason until it has examined a job."""


def reasons(start: str) -> Counter[str] | None:
    """How many of this user's jobs whose names begin with `start` wait, by Slurm's reason; None without an answer."""
    command = ["squeue", "--me", "--noheader", "--states=PENDING", "--format=%r|%j"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=POLL_SECONDS, encoding="utf-8", errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return None
    rows = [line.rsplit("|", 1) for line in done.stdout.splitlines() if "|" in line]
    found = Counter(reason for reason, name in rows if name.startswith(start) and reason not in UNEXAMINED)
    return found if done.returncode == 0 else None


@dataclass
class Watch:
    """What was said about the queue so far; `look` and `refused` say what is new."""

    look: Callable[[], Counter[str] | None]
    refused: Callable[[], Iterable[tuple[str, str]]] = refusals.read
    _said: frozenset[str] = frozenset()
    _refused: set[str] = field(default_factory=set)

    def news(self) -> list[str]:
        """A line for the reasons of waiting jobs if they have changed since the last call, and one for each refusal."""
        found = self.look()
        lines = []
        kinds = frozenset(["no answer"] if found is None else found)
        if kinds != self._said:
            self._said = kinds
            lines += [NO_ANSWER] if found is None else waiting(found)
        for kind, words in self.refused():
            if kind == refusals.WAITS and words not in self._refused:
                self._refused.add(words)
                lines.append(f"Slurm accepts no further job now ({words}); it is submitted again until accepted")
        return lines


NO_ANSWER = "Slurm's controller does not answer; the jobs go on"


def waiting(found: Counter[str]) -> list[str]:
    """The waiting jobs in a line, with the remedy where they would wait for ever; nothing without any.

    >>> waiting(Counter({"Resources": 1, "Priority": 3}))
    ['waiting in Slurm: 3 jobs (Priority), 1 job (Resources)']
    """
    if not found:
        return []
    counted = [f"{count} {'job' if count == 1 else 'jobs'} ({reason})" for reason, count in found.most_common()]
    lines = [f"waiting in Slurm: {', '.join(counted)}"]
    for reason in filter(HOPELESS.__contains__, found):
        key, step = meaning(reason)
        remedy = f"press Ctrl-C and set `{key}:` in {SITE}: {step}" if key else step
        lines.append(f"{reason} does not end by itself; wait until the administrators change it, or {remedy}")
    return lines


def follow(start: str, say: Callable[[str], None]) -> None:
    """Say from now on, in a thread, why this user's jobs with names that begin with `start` wait."""
    watch = Watch(lambda: reasons(start))

    def run() -> None:
        while True:
            time.sleep(POLL_SECONDS)
            for line in watch.news():
                say(line)

    threading.Thread(target=run, daemon=True).start()
