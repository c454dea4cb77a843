"""The launches that fail in a run, or that it leaves without a measurement: which, why, and what repeats them."""

import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from crossover.design.launch import Launch
from crossover.planning import receipt
from crossover.planning.receipt import Files
from crossover.records import atomic, rows
from crossover.records.holes import HoleKind, alike, retry
from crossover.slurm.jobs import Fate

NO_FILE = "no raw file"
"""In place of the kind of a hole: the job failed without the supervisor's record."""

UNREADABLE = "logs/{experiment}/unreadable"
"""The file in the folder of results with the time when a run last saw an unreadable raw file of the experiment."""

NOT_STARTED = "not started"
"""The same for a launch whose supervisor did not begin: the run was interrupted, or the launch before it failed."""


@dataclass(frozen=True)
class Unmeasured:
    """The launches without a measurement: grouped by `holes.alike`."""

    groups: list[list[rows.Launch]]
    succeeded: bool = False
    """Whether Snakemake ended the run without a failure; then a launch that was not started is a fault of ours."""

    @property
    def fails(self) -> bool:
        """Whether the run must end with exit code 1."""
        # What cannot be built here is named, but no run of this machine can avoid it.
        return any(group[0].hole != HoleKind.NOT_BUILT for group in self.groups)

    @property
    def first_line(self) -> str:
        """The number of launches; empty if there are none."""
        count = sum(map(len, self.groups))
        which = f"{count} launch of this run was" if count == 1 else f"{count} launches of this run were"
        return f"{which} not measured" if count else ""

    def __str__(self) -> str:
        """The number of launches, then each group with kind, reason and command; empty if there are none."""
        lines = [self.first_line] if self.groups else []
        lines += [_words(group) for group in self.groups if group[0].hole != NOT_STARTED]
        if waiting := sum(len(group) for group in self.groups if group[0].hole == NOT_STARTED):
            fault = ", although nothing failed: a bug in crossover, please report it" if self.succeeded else ""
            lines.append(f"not started: {waiting}{fault}; to measure the rest, repeat the command")
        # They keep Snakemake from making the page.
        if any(group[0].hole in (NO_FILE, NOT_STARTED) for group in self.groups):
            lines.append("to report on the existing launches now, repeat the command with partial=true behind --config")
        return "\n".join(lines)


def _words(group: Sequence[rows.Launch]) -> str:
    hole, numbers = group[0], ", ".join(str(each.launch) for each in group)
    which = f"not measured: {hole.experiment}, placement {hole.placement}, launch {numbers} ({hole.hole})"
    return f"{which}: {hole.reason}; {retry(hole.hole, [each.receipt for each in group])}"


def find(
    asked: Mapping[str, Launch],
    due: Collection[str] = (),
    reasons: Mapping[Files, str] | None = None,
    succeeded: bool = False,
) -> Unmeasured:
    """The launches among those `asked`, by receipt, that are holes or have no receipt; those `due`, none of this run.

    `reasons` are those of launches that failed in this run; `succeeded` tells that no job failed. A raw file that
    cannot be read is no launch of this list.
    """
    missing = []
    for path, launch in sorted(asked.items(), key=lambda item: item[1].name):
        files = Files(Path(path))
        held = receipt.read(files.path) if files.path.exists() else None
        # A receipt of an earlier run stays where a new attempt left nothing.
        if held is None or (path in due and not held.of_this_run):
            missing.append(_without_receipt(files, launch, (reasons or {}).get(files, "")))
        elif not held.measured:
            missing.append(held.row)
    return Unmeasured(alike(missing), succeeded)


def _without_receipt(files: Files, launch: Launch, reason: str) -> rows.Launch:
    """The row of a launch without a receipt, which failed for a `reason` if that is known."""
    row = rows.Launch.of({**launch.identity, "outcome": "hole", "receipt": str(files.path), "reason": ""})
    if not reason and not receipt.is_begun(files.log):
        return replace(row, hole=NOT_STARTED)
    logs = f"; logs: {files.log.parent}" if files.log.exists() else ""
    return replace(row, hole=NO_FILE, reason=f"{reason or EARLY}{logs}")


def unreadable(results: str, experiments: Iterable[str]) -> str:
    """The message about launches of these experiments whose raw file could not be read, by their tables."""
    # Imported here, because every Snakemake process loads this module, and only one ends a run.
    from crossover.records import record

    found: list[rows.Launch] = []
    for name in experiments:
        # A missing or damaged table has ended its step with a message.
        with suppress(record.RecordError):
            launches = record.rows_of(Path(results, "experiments", name, "launches.parquet"), rows.Launch)
            found += [launch for launch in launches if launch.hole == HoleKind.UNREADABLE]
    for name in {launch.experiment for launch in found}:
        with atomic.replacing(Path(results, UNREADABLE.format(experiment=name))) as part:
            part.write_text(str(time.time_ns()), encoding="utf-8")
    lines = [f"not readable: {launch.file}: {launch.reason}" for launch in found]
    again = [retry(HoleKind.UNREADABLE, [launch.receipt for launch in found])] if found else []
    return "\n".join([*lines, *again])


def last_unreadable(results: str, experiment: str) -> str:
    """The content of UNREADABLE; a parameter that repeats the tables, because a restored raw file has an old time."""
    with suppress(OSError):
        return Path(results, UNREADABLE.format(experiment=experiment)).read_text(encoding="utf-8")
    return ""


EARLY = "its job ended early"
"""The reason without a better one."""

ERROR = re.compile(
    r"^(?!CalledProcessError|RuleException|WorkflowError)([\w.]*(Error|Exception)|[\w./-]+: error)\b.*: .+"
    r"|: not found$|command not found|No such file or directory|Permission denied|Killed$|Segmentation fault"
)
"""A line that names an error, but for Snakemake's about the end of a command; or a shell's about a command that it
could not run, or that was killed."""


def last_error(text: str) -> str:
    """The last line of a job's log that names an error; empty without one.

    >>> last_error("Traceback:\\nModuleNotFoundError: No module named 'zmq'\\nRuleException:\\nCalledProcessError in x")
    "ModuleNotFoundError: No module named 'zmq'"
    """
    lines = [line.strip() for line in text.splitlines()]
    return next((line for line in reversed(lines) if ERROR.search(line)), "")


@dataclass
class Attempts:
    """The failures so far.

    `most` is the number of attempts that each job has. `fate` asks for that of a job of Slurm, `refusal` for Slurm's
    words when it refused the last.
    """

    most: int
    fate: Callable[[str], Fate] | None = None
    refusal: Callable[[], str] = lambda: ""
    job_log: Callable[[str], Path | None] = lambda _: None
    """The log of a job of Slurm, by its number."""
    reasons: dict[Files, str] = field(default_factory=dict)
    """The last reason of each launch that failed, also of those that Slurm refused."""
    _failures: Counter[Files] = field(default_factory=Counter)

    def failed(self, launches: Sequence[Files], job: str | None) -> tuple[Files, str]:
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
        log = self.job_log(job) if job and reason.startswith(EARLY) else None
        where += [f"log: {log or own.log}"] if log or self._time(own) else []
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

    def _reason(self, launch: Files, job: str | None) -> str:
        if self.fate and job:
            fate = self.fate(job)
            if fate.from_outside:
                return f"Slurm ended its job: {fate}"
        # A log of an earlier run is no reason.
        lines = launch.log.read_text(errors="replace", encoding="utf-8").splitlines() if self._time(launch) else []
        last, discarded, _ = (lines or [""])[-1].partition("; launch discarded")
        if discarded:
            return last.removeprefix("{} {} launch {}: ".format(*launch.name))
        log = self.job_log(job) if job else None
        error = last_error(log.read_text(encoding="utf-8", errors="replace")) if log else ""
        return f"{EARLY}: {error}" if error else EARLY

    def _time(self, launch: Files) -> float:
        """When a launch last wrote to its log in this run; 0 if it did not."""
        return launch.log.stat().st_mtime if receipt.is_begun(launch.log) else 0.0
