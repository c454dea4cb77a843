"""The output of a launch: passed to the terminal and the log, and searched for the reason of a hole."""

import re
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

_SLURM = "srun: error: "
"""The start of a line in which Slurm's launcher reports an error."""
_END = re.compile(
    # srun: error: node2: task 1: Killed
    r"srun: error: \S+: tasks? \S+: "
    # rank 1 on node2 was ended by signal 9 (Killed): launch/starter.py
    r"|rank \d+ on \S+ was ended by signal "
    # Open MPI's prterun, its notice in one line
    r"|.*process rank \d+ with PID \d+ on node \S+ exited on signal "
)
"""A launcher's line about the end of ranks, with their host."""
_NO_SIGNAL = re.compile("Exited|Terminated")
_EXITED = re.compile(r"srun: error: \S+: tasks? \S+: Exited with exit code [1-9]")
"""Upon which srun ends the other ranks."""
_LOST_NODE = re.compile(
    r"srun: error: (Task launch .*failed on node |Node failure on "
    r"|\S+: .*(Communication connection failure|Socket timed out))"
)
_ENDED_STEP = re.compile(r"slurmstepd.*: error: \*\*\* STEP \S+ ON \S+ (FAILED|CANCELLED AT \S+ DUE TO )")
"""What Slurm says of ranks that it ends because their job ends."""
_OWN_DOING = re.compile(r"srun: .*Terminating|slurmstepd: .*CANCELLED AT|srun: Force Terminated")
"""From such a line on, Slurm ends the other ranks, if need be with SIGKILL."""
_ERROR = re.compile(r"error|exception|\bfault|signal|killed|timeout", re.IGNORECASE)
_LAUNCHERS = re.compile(r"Abort\(|YOUR APPLICATION|=|\[[^\]]+:\d+\]|srun: |slurmstepd: ")
"""The starts of lines by MPI and its launcher about the end of ranks; a rank's own lines are more informative."""
_NOTICE = re.compile(r"^-{40,}\n(.+?)^-{40,}$", re.MULTILINE | re.DOTALL)
"""A notice of Open MPI's launcher, between two rules."""

LOST = " needs, has ended"
"""The end of rank 0's message about a lost server or child. All later messages are consequences."""


def from_outside(end: str) -> bool:
    """Whether no code of the rank can have caused this end, so that any exception of another rank is a consequence."""
    return "Killed" in end or "Out Of Memory" in end


def ended_by_slurm(lines: Sequence[str]) -> str:
    """Slurm's line about a node that no longer answers, or about the end of ranks of which none had failed before."""
    if lost := [line for line in lines if _LOST_NODE.match(line)]:
        return lost[0]
    for line in lines:
        if _ENDED_STEP.match(line):
            return line
        if _OWN_DOING.match(line) or _END.match(line):
            break
    return ""


class Relay:
    """Passes lines to the log, and with `echo` to the terminal, and keeps the last ones, which contain the reason of a
    crash.

    The log is an unbuffered file. Lines that cannot be written to it are dropped, so that the ranks go on.
    """

    def __init__(self, log: IO[bytes], echo: bool = True):
        self._log = log
        self._echo = echo
        self.lines: deque[str] = deque(maxlen=300)
        """The last lines before the end of the search."""
        self._closed = False

    def __call__(self, line: str) -> None:
        """Pass on one line."""
        if not self._closed:
            self.lines.append(line)
        with suppress(OSError):
            self._log.write(f"{line}\n".encode())
        if self._echo:
            print(line, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Search no later line for the reason: they are consequences of our own kill."""
        self._closed = True

    def first_end(self) -> str:
        """The launcher's line about the first rank that a signal or a lack of memory ended; empty without one.

        A rank that the launcher has ended itself, because another had exited, does not count.
        """
        for line in _NOTICE.sub(lambda notice: _sentence(notice[1]), "\n".join(self.lines)).splitlines():
            if _OWN_DOING.match(line) or _EXITED.match(line):
                break
            if _END.match(line) and not _NO_SIGNAL.search(line):
                return line.removeprefix(_SLURM)
        return ""

    def error(self) -> str:
        """The line that most likely names the error: the first about a lost server, otherwise the last of a rank that
        reads like an error, otherwise the launcher's. Empty if no line reads like an error.
        """
        lines = self._lines()
        losses = [line for line in lines if LOST in line][:1]
        errors = [line for line in lines if _ERROR.search(line)]
        ranks = [line for line in errors if not _LAUNCHERS.match(line)]
        # The first notice is the cause, the others are consequences; its later paragraphs give advice.
        notices = [_sentence(text) for text in _NOTICE.findall("\n".join(self.lines))][:1]
        # Slurm reports the cause first, other launchers last.
        slurms = [line for line in errors if line.startswith(_SLURM)][:1]
        return (losses or ranks or notices or slurms or errors or [""])[-1]

    def last_words(self) -> str:
        """The error, otherwise the last line."""
        return f"last words: {self.error() or next(iter(self._lines()[-1:]), 'none')}"

    def _lines(self) -> list[str]:
        return [line.strip() for line in _NOTICE.sub("", "\n".join(self.lines)).splitlines() if line.strip()]


def _sentence(notice: str) -> str:
    """The first paragraph of a notice in one line."""
    return " ".join(notice.partition("\n\n")[0].split())
