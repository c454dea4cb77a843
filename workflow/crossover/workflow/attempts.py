"""The failures of launches in this run: their reasons in words, and whether Snakemake repeats them by itself."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from crossover.planning.inventory import Key
from crossover.slurm.jobs import Fate

EARLY = "its job ended early"
"""The reason without a better one."""


@dataclass
class Attempts:
    """The failures so far.

    `most` is the number of attempts that each job has, `began` the start of the run in seconds since 1970, and `log`
    the log of a launch. `fate` asks for that of a job of Slurm, `refusal` for Slurm's words when it refused the last.
    """

    most: int
    began: float
    log: Callable[[Key], Path]
    fate: Callable[[str], Fate] | None = None
    refusal: Callable[[], str] = lambda: ""
    reasons: dict[Key, str] = field(default_factory=dict)
    """The last reason of each launch that failed, also of those that Slurm refused."""
    lost: dict[str, Fate] = field(default_factory=dict)
    """The jobs of Slurm that failed, by number."""
    _failures: Counter[Key] = field(default_factory=Counter)

    def failed(self, launches: Sequence[Key], job: str | None) -> tuple[Key, str]:
        """Note that a job failed, with these launches unmeasured; returns the one that failed, and words about it.

        `job` is the job's number; None without Slurm, and for a job that Slurm refused.
        """
        own = max(launches, key=self._time)
        self._failures[own] += 1
        if self.fate and job is None:
            reason = f"Slurm refused its job: {self.refusal() or 'without a reason'}"
            self.reasons |= dict.fromkeys(launches, reason)
        else:
            reason = self.reasons[own] = self._reason(own, job)
        where = [f"job {job}"] if self.fate and job else []
        where += [f"log: {self.log(own)}"] if self._time(own) else []
        places = f" ({', '.join(where)})" if where else ""
        waiting = len(launches) - 1
        others = f"{waiting} more of its job {'waits' if waiting == 1 else 'wait'}; " if waiting else ""
        return own, f"{reason}{places}; {others}{self._next(self._failures[own])}"

    def _next(self, attempt: int) -> str:
        """What happens after this attempt."""
        if attempt < self.most:
            return f"attempt {attempt} of {self.most}, repeated by itself"
        tried = f"attempt {attempt} of {self.most}; " if self.most > 1 else ""
        return f"{tried}to retry, repeat the command"

    def _reason(self, launch: Key, job: str | None) -> str:
        if self.fate and job:
            fate = self.lost[job] = self.fate(job)
            if fate.from_outside:
                return f"Slurm ended its job: {fate}"
        # A log of an earlier run is no reason.
        lines = (
            self.log(launch).read_text(errors="replace", encoding="utf-8").splitlines() if self._time(launch) else []
        )
        last, discarded, _ = (lines or [""])[-1].partition("; launch discarded")
        return last.removeprefix("{} {} launch {}: ".format(*launch)) if discarded else EARLY

    def _time(self, launch: Key) -> float:
        """When a launch last wrote to its log in this run; 0 if it did not."""
        log = self.log(launch)
        written = log.stat().st_mtime if log.exists() else 0.0
        return written if written >= self.began else 0.0
