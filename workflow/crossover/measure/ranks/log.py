"""The output of a launch: passed to the terminal and the log, and searched for the reason of a hole."""

import re
import signal
import sys
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from typing import IO, NamedTuple

_SLURM = re.compile("srun: error: ")
"""The start of a line in which Slurm's launcher reports an error."""

_SIGNALS = {name: number for number in signal.Signals if (name := signal.strsignal(number))}
_ENDS = (
    # srun: error: node2: task 1: Killed
    re.compile(r"srun: error: (?P<host>[^:\s]+): tasks? (?P<rank>[^:\s]+): (?P<end>[^()]+?)(?: \(core dumped\))?$"),
    # rank 1 on node2 was ended by signal 9 (Killed): launch/starter.py
    re.compile(r"rank (?P<rank>\d+) on (?P<host>\S+) was ended by signal \d+ \((?P<end>[^()]+)\)$"),
    # Open MPI's prterun, its notice in one line
    re.compile(
        r".*process rank (?P<rank>\d+) with PID \d+ on node (?P<host>\S+) exited on signal \d+ \((?P<end>[^():]+)"
    ),
)
_LOST_NODE = re.compile(
    # srun: error: Task launch for StepId=7.0 failed on node n3: Communication connection failure
    r"srun: error: (?:Task launch .*?failed on node (?P<first>[^:\s]+): (?P<words>.*)"
    r"|Node failure on (?P<second>\S+)"
    r"|(?P<third>[^:\s]+): .*(?P<other>Communication connection failure|Socket timed out).*)"
)
"""What Slurm's launcher says of a node that no longer answers."""
_ENDED_STEP = re.compile(
    r"slurmstepd.*: error: \*\*\* STEP (?P<words>\S+ ON \S+ (?:FAILED|CANCELLED AT \S+ DUE TO [^*]+))"
)
"""What Slurm says of ranks that it ends because their job ends."""
_NO_MEMORY = "Out Of Memory"
_OWN_DOING = re.compile(r"srun: .*Terminating|slurmstepd: .*CANCELLED AT|srun: Force Terminated")
"""From such a line on, Slurm ends the other ranks, if need be with SIGKILL."""
_ERROR = re.compile(r"error|exception|\bfault|signal|killed|timeout", re.IGNORECASE)
_LAUNCHERS = re.compile(r"Abort\(|YOUR APPLICATION|=|\[[^\]]+:\d+\]|srun: |slurmstepd: ")
"""The starts of lines by MPI and its launcher about the end of ranks; a rank's own lines are more informative."""
_NOTICE = re.compile(r"^-{40,}\n(.+?)^-{40,}$", re.MULTILINE | re.DOTALL)
"""A notice of Open MPI's launcher, between two rules."""

LOST = " needs, has ended"
"""The end of rank 0's message about a lost server or child. All later messages are consequences."""


class End(NamedTuple):
    """The end of ranks that a launcher reports: their number or numbers, their host or hosts, and the end in words."""

    rank: str
    host: str
    end: str

    @property
    def from_outside(self) -> bool:
        """Whether no code of the rank can have caused it, so that any exception of another rank is a consequence."""
        return self.end in (_NO_MEMORY, signal.strsignal(signal.SIGKILL))

    def __str__(self) -> str:
        who, was = ("rank", "was") if self.rank.isdigit() else ("ranks", "were")
        cause = f"by signal {_SIGNALS[self.end]:d} ({self.end})" if self.end in _SIGNALS else "for lack of memory"
        return f"{who} {self.rank} on {self.host} {was} ended {cause}"


def first_end(lines: Iterable[str]) -> End | None:
    """The first end of a rank by a signal, or by a lack of memory; None if the launcher reports none.

    A rank that the launcher has ended itself does not count: neither SIGTERM, nor any end after the launcher's
    announcement.
    """
    for line in lines:
        if _OWN_DOING.match(line):
            return None
        found = next(filter(None, (pattern.match(line) for pattern in _ENDS)), None)
        if found and found["end"] in {*_SIGNALS, _NO_MEMORY} - {signal.strsignal(signal.SIGTERM)}:
            return End(found["rank"], found["host"], found["end"])
    return None


def first_lost_node(lines: Iterable[str]) -> str:
    """What Slurm's launcher says first of a node that no longer answers; empty if it says nothing of the kind."""
    for line in lines:
        if found := _LOST_NODE.match(line):
            node = found["first"] or found["second"] or found["third"]
            return f"node {node}: {found['words'] or found['other'] or 'node failure'}"
    return ""


def ended_step(lines: Iterable[str]) -> str:
    """Slurm's first words about the end of the ranks, if it ended them and not because one of them failed."""
    for line in lines:
        if found := _ENDED_STEP.match(line):
            return found["words"].strip()
        if _OWN_DOING.match(line) or any(pattern.match(line) for pattern in _ENDS):
            return ""
    return ""


class Relay:
    """Passes lines to the log, and with `echo` to the terminal, and keeps the last ones, which contain the reason of a
    crash.

    The log is an unbuffered file. Lines that cannot be written to it are dropped, so that the ranks go on.
    """

    def __init__(self, log: IO[bytes], echo: bool = True):
        self._log = log
        self._echo = echo
        self._last: deque[str] = deque(maxlen=300)
        self._closed = False

    def __call__(self, line: str) -> None:
        """Pass on one line."""
        if not self._closed:
            self._last.append(line)
        with suppress(OSError):
            self._log.write(f"{line}\n".encode())
        if self._echo:
            print(line, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Search no later line for the reason: they are consequences of our own kill."""
        self._closed = True

    def first_cause(self) -> End | None:
        """The first rank that was ended by a signal, according to the launcher; None if it reports none."""
        return first_end(_NOTICE.sub(lambda notice: _sentence(notice[1]), self._output).splitlines())

    @property
    def lines(self) -> list[str]:
        """The last lines before the end of the search."""
        return list(self._last)

    @property
    def _output(self) -> str:
        return "\n".join(self._last)

    def names_lost_server(self) -> bool:
        """Whether rank 0 has lost a server or a child."""
        return any(LOST in line for line in self._last)

    def error(self) -> str:
        """The line that most likely names the error: the first about a lost server, otherwise the last of a rank that
        reads like an error, otherwise the launcher's. Empty if no line reads like an error.
        """
        lines = self._lines()
        losses = [line for line in lines if LOST in line]
        errors = [line for line in lines if _ERROR.search(line) and not line.startswith("Abort(")]
        ranks = [line for line in errors if not _LAUNCHERS.match(line)]
        # The first notice is the cause, the others are consequences; its later paragraphs give advice.
        notices = [_sentence(text) for text in _NOTICE.findall(self._output)][:1]
        # Slurm reports the cause first, other launchers last.
        slurms = [line for line in errors if _SLURM.match(line)][:1]
        return (losses[:1] or ranks or notices or slurms or errors or [""])[-1]

    def last_words(self) -> str:
        """The error, otherwise the last line."""
        return f"last words: {self.error() or next(iter(self._lines()[-1:]), 'none')}"

    def _lines(self) -> list[str]:
        return [line.strip() for line in _NOTICE.sub("", self._output).splitlines() if line.strip()]


def _sentence(notice: str) -> str:
    """The first paragraph of a notice in one line."""
    return " ".join(notice.partition("\n\n")[0].split())
