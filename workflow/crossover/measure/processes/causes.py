"""The first cause of a launch's end, from the lines in which a launcher reports the ends of ranks."""

import re
import signal
from collections.abc import Iterable
from typing import NamedTuple

SLURM = re.compile("srun: error: ")
"""The start of a line in which Slurm's launcher reports an error."""

_SIGNALS = {name: number for number in signal.Signals if (name := signal.strsignal(number))}
_ENDS = (
    # srun: error: node2: task 1: Killed
    re.compile(r"srun: error: (?P<host>[^:\s]+): tasks? (?P<rank>[^:\s]+): (?P<end>[^()]+?)(?: \(core dumped\))?$"),
    # rank 1 on node2 was ended by signal 9 (Killed): processes/starter.py
    re.compile(r"rank (?P<rank>\d+) on (?P<host>\S+) was ended by signal \d+ \((?P<end>[^()]+)\)$"),
    # Open MPI's prterun, its notice in one line
    re.compile(
        r".*process rank (?P<rank>\d+) with PID \d+ on node (?P<host>\S+) exited on signal \d+ \((?P<end>[^():]+)"
    ),
)
_NO_MEMORY = "Out Of Memory"
_OWN_DOING = re.compile(r"srun: .*Terminating|slurmstepd: .*CANCELLED AT|srun: Force Terminated")
"""From such a line on, Slurm ends the other ranks, if need be with SIGKILL."""


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


def first(lines: Iterable[str]) -> End | None:
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
