"""The display of a run: a logger plugin of Snakemake, which prints a run's own lines instead of Snakemake's.

In a terminal, one line moves; above it is a line per finished experiment. Through a pipe, there is a line per launch.
Errors and warnings are printed whole. With `--verbose`, and in a dry run, everything is printed as Snakemake words it.
"""

import logging
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_crossover.tally import Key, Tally, in_words

BAR = 16
"""Characters of the bar."""

STEP_LINES = 4
"""The most lines shown of the log of a step that is no launch; most have none."""

KEPT = ("Nothing to be done",)
"""The starts of Snakemake's plain messages that are worth a line."""

OMITTED = ("Cannot restore", "WorkflowError:\nAt least one job did not complete successfully")
"""The starts of a warning about a failed launch that had no receipt before, and of a message without a reason: the end
of the run names each such launch."""

OF_SLURM = "snakemake_executor_plugin_slurm"
"""In the path of the source that gives a warning of Slurm's plugin. They are about requests that the profile makes on
purpose, or about what a run says in its own words."""

SILENCE_SECONDS = 30
"""The longest time without a line through a pipe, but for the time of a look."""

LOOK_SECONDS = 10

_handlers: list["LogHandler"] = []


@dataclass(frozen=True)
class Run:
    """What the display asks about a run."""

    due: Collection[Key] = ()
    """The launches that it measures."""
    seconds: Mapping[Key, float] = field(default_factory=dict)
    """The expected time of each launch that it needs."""
    wall_seconds: float = 0.0
    """The expected time of the whole run."""
    ended: Callable[[Key], tuple[bool, str]] = lambda _: (True, "")
    """Whether a launch that has ended was measured, and its end in words."""
    took: Callable[[Key], float] = lambda _: 0.0
    """The seconds of a launch that has ended."""
    written: Callable[[Key], bool] = lambda _: False
    """Whether this run has written the raw file of a launch, whose job may still measure others."""
    result: Callable[[str], str] = lambda _: ""
    """The first result of an experiment, in a line."""
    failed: Callable[[Sequence[Key], str | None], tuple[Key, str]] = lambda keys, job: (keys[0], "")
    """Notes that a job failed, by its launches without a receipt and its number in a batch system; returns the launch
    that failed, and its reason and what follows in words, none if that is known."""
    duration: Callable[[float], str] = "{:.0f} s".format
    """Seconds in words."""


def begin(run: Run) -> None:
    """Start the display of a run."""
    for handler in _handlers:
        handler.begin(run)


def end() -> None:
    """Stop the line that moves."""
    for handler in _handlers:
        handler.stop()


def say(text: str) -> None:
    """Print a line above the one that moves; to standard error without a display."""
    for handler in _handlers:
        handler.say(text)
    if not _handlers:
        print(text, file=sys.stderr, flush=True)


class LogHandler(LogHandlerBase):
    """Prints a run's progress to standard error."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = False
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        self.tally = Tally()
        self.steps = 0
        """The jobs of the run that are no launches."""
        self._jobs: dict[int, Mapping[str, Any]] = {}
        self._grouped: set[int] = set()
        """Jobs whose group has failed, until their own errors have come."""
        self._run = Run()
        self._live: Live | None = None
        self._steps: dict[int, str] = {}
        """What each job does that is under way and no launch."""
        self._said = 0.0
        """When the last line was printed."""
        self._whole = self.common_settings.verbose or self.common_settings.dryrun
        # A dry run prints to standard output, as Snakemake does.
        self._console = Console(stderr=not self.common_settings.dryrun, highlight=False, soft_wrap=True)
        _handlers.append(self)

    def begin(self, run: Run) -> None:
        """Show the progress of a run."""
        expected = {key: run.seconds[key] for key in run.due}
        self.tally, self._run = Tally(expected, steps=self.steps, wall_seconds=run.wall_seconds), run
        if self._console.is_terminal and not self._whole and self._live is None:
            # A slow refresh, because the display shares the machine with what is measured.
            self._live = Live(get_renderable=self._line, console=self._console, refresh_per_second=1, transient=True)
            self._live.start()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        """Call `progress` from now on."""
        while self in _handlers:
            time.sleep(LOOK_SECONDS)
            self.progress()

    def stop(self) -> None:
        """Remove the line that moves."""
        if self._live:
            self._live.stop()
            self._live = None

    def close(self) -> None:
        """End the display with Snakemake's logging, so that an interrupted run leaves a usable terminal."""
        self.stop()
        if self in _handlers:
            _handlers.remove(self)
        super().close()

    def say(self, text: str, style: str = "") -> None:
        """Print a line."""
        self._said = time.monotonic()
        self._console.print(Text(text, style=style))

    def emit(self, record: logging.LogRecord) -> None:
        """Show one message of Snakemake."""
        try:
            self._show(record)
        except Exception:
            # A fault of the display must not end the thread that runs it.
            self.handleError(record)

    def _show(self, record: logging.LogRecord) -> None:
        facts = vars(record)
        match facts.get("event"):
            case _ if self._whole:
                self.say(self.format(record))
            case LogEvent.RUN_INFO:
                self.steps = sum(count for rule, count in facts["stats"].items() if rule not in ("launch", "total"))
            case LogEvent.JOB_INFO:
                self._started(facts)
            case LogEvent.JOB_FINISHED:
                self._finished(facts["job_id"])
            case LogEvent.JOB_ERROR:
                self._failed(facts)
            case LogEvent.GROUP_ERROR:
                # An error of each of the group's launches follows.
                self._grouped = {each["jobid"] for each in facts["job_error_info"]}
                self._launches_failed(self._grouped, facts.get("external_jobid"))
            case _ if record.getMessage().startswith(OMITTED):
                pass
            case _ if record.levelno == logging.WARNING and OF_SLURM in record.pathname:
                pass
            case _ if record.levelno >= logging.WARNING or record.getMessage().startswith(KEPT):
                self.say(self.format(record), "red" if record.levelno >= logging.ERROR else "")

    def _started(self, facts: Mapping[str, Any]) -> None:
        self._jobs[facts["jobid"]] = facts
        if key := _launch(facts):
            # A hole that can be filled now, because a library has been built.
            self.tally.expected.setdefault(key, self._run.seconds.get(key, 0.0))
            self.tally.running.add(key)
        else:
            self._steps[facts["jobid"]] = facts["rule_msg"] or ""

    def _finished(self, number: int) -> None:
        facts = self._jobs.pop(number, None)
        self._steps.pop(number, None)
        if facts is None:
            return
        if key := _launch(facts):
            self.tally.running.discard(key)
            self.tally.done[key] = self._run.took(key)
            measured, words = self._run.ended(key)
            if not (measured and self._live):
                left = f"; about {self._run.duration(self.tally.seconds_left)} left"
                self.say(f"[{self.tally.position}] {in_words([key])}: {words}{left}", "" if measured else "red")
            return
        self.tally.steps_done += 1
        for line in _lines(facts["log"])[:STEP_LINES]:
            self.say(line)
        if facts["rule_name"] == "tables" and (found := self._run.result(facts["wildcards"]["experiment"])):
            self.say(found)

    def _failed(self, facts: Mapping[str, Any]) -> None:
        number = facts["jobid"]
        self._steps.pop(number, None)
        if number in self._grouped:
            self._grouped.discard(number)
            return
        job = self._jobs.get(number, facts)
        if _launch(job):
            self._launches_failed([number], facts.get("aux", {}).get("external_jobid"))
            return
        reason = (_lines(facts["log"]) or ["no reason in its log"])[-1]
        name, logs = job.get("rule_msg") or job["rule_name"], ", ".join(facts["log"])
        self.say(f"failed: {name}: {reason} (log: {logs}); to retry, repeat the command", "red")

    def _launches_failed(self, numbers: Iterable[int], external: str | None) -> None:
        keys = [key for number in numbers if (key := _launch(self._jobs.get(number, {})))]
        for key in keys:
            self.tally.running.discard(key)
        # The job of the others failed later, with another launch.
        if lacking := sorted(key for key in keys if not self._run.written(key)):
            key, words = self._run.failed(lacking, external)
            if words:
                self.say(f"failed: {in_words([key])}: {words}", "red")

    def progress(self) -> None:
        """Print a line after a silence, if anything is under way and no line moves."""
        if self._live or self._whole or time.monotonic() - self._said < SILENCE_SECONDS:
            return
        self._count()
        launches = self.tally.running - self.tally.done.keys()
        if what := self._under_way(launches):
            words = f"under way{' or waiting in its queue' if launches else ''}: {what}"
            left = f"; about {self._run.duration(self.tally.seconds_left)} left"
            self.say(f"[{self.tally.position}] {words}{left}" if self.tally.expected else words)

    def _under_way(self, launches: Iterable[Key]) -> str:
        """These launches in words; without any, the last step that began."""
        return in_words(launches) or next(reversed(list(self._steps.values())), "")

    def _count(self) -> None:
        """Count the launches that are done, although their job goes on."""
        written = self.tally.running - self.tally.done.keys()
        self.tally.done |= {key: self._run.took(key) for key in written if self._run.written(key)}

    def _line(self) -> Text:
        """The line that moves."""
        self._count()
        share = self.tally.share
        filled = round(share * BAR)
        what = self._under_way(self.tally.running)
        left = f"about {self._run.duration(self.tally.seconds_left)} left" if self.tally.expected else ""
        return Text.assemble(
            "[", ("#" * filled, "green"), "-" * (BAR - filled), f"] {share:3.0%}  {what}  {left}",
            no_wrap=True, overflow="ellipsis",
        )  # fmt: skip


def _launch(facts: Mapping[str, Any]) -> Key | None:
    """The launch of a job; None if it is another step."""
    if facts.get("rule_name") != "launch" or "wildcards" not in facts:
        return None
    wildcards = facts["wildcards"]
    return wildcards["experiment"], wildcards["placement"], int(wildcards["launch"])


def _lines(logs: list[str]) -> list[str]:
    """The lines of the first log that has any."""
    texts = (Path(log).read_text(encoding="utf-8", errors="replace") for log in logs if Path(log).is_file())
    return next((text.splitlines() for text in texts if text.strip()), [])
