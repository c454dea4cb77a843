"""What Slurm says about the cluster: its partitions and their nodes."""

import math
import re
import sys
from dataclasses import dataclass
from functools import cache

from crossover import programs

COLUMNS = "%P|%a|%D|%l|%c"
"""Of `sinfo`: partition, its state, nodes, limit of time, processors of a node."""


@dataclass(frozen=True)
class Partition:
    """The limits of one partition, or of several together; the defaults apply where Slurm does not say."""

    states: tuple[str, ...] = ("up",)
    nodes: int | None = None
    minutes: float = math.inf
    """The longest job."""
    processors: float = math.inf
    """The logical processors of the smallest node."""

    @property
    def stopped(self) -> str:
        """The states if no partition is up; empty otherwise."""
        return "" if "up" in self.states else ", ".join(self.states)


def partition(names: str | None) -> Partition:
    """These partitions (names with commas), or the default one without a name.

    Raises CrossoverError if Slurm does not answer. Without `sinfo`, the defaults apply.
    """
    return partition_in(listed(), names)


@cache
def listed() -> str:
    """What `sinfo` answers with COLUMNS; once, so that all of a run fits the same cluster."""
    return programs.ask("sinfo", "--noheader", f"--format={COLUMNS}").stdout


def partition_in(answer: str, names: str | None) -> Partition:
    """The same, from what `sinfo` answers with COLUMNS. Other lines, such as a site's own words, are skipped.

    >>> partition_in("main*|up|3|1-02:00:00|64+\\nmain*|up|1|1-02:00:00|4\\nold|down|1|30:59|2", None)
    Partition(states=('up',), nodes=4, minutes=1560, processors=4)
    >>> partition_in("Welcome!\\nmain*|up|3|infinite|8\\nold|down|1|30:59|2", "old").stopped
    'down'
    >>> partition_in("", None) == Partition()
    True
    """
    rows = [row for row in (line.split("|") for line in answer.splitlines()) if len(row) == 5 and row[2].isdecimal()]
    # The default partition has a star.
    rows = [row for row in rows if (row[0].rstrip("*") in names.split(",") if names else row[0].endswith("*"))]
    if not rows:
        return Partition()
    return Partition(
        tuple(dict.fromkeys(row[1] for row in rows)),
        sum(int(row[2]) for row in rows),
        min(_minutes(row[3]) for row in rows),
        min(_number(row[4].rstrip("+")) for row in rows),
    )


def most_nodes(partitions: str | None, bound: int) -> int | None:
    """The most nodes that a run can use at a time: those of these partitions, at most `bound`.

    None if neither Slurm nor `bound` (then sys.maxsize) tells.
    """
    most = min(filter(None, [bound, partition(partitions).nodes]))
    return None if most == sys.maxsize else most


def _number(text: str) -> float:
    return int(text) if text.isdecimal() else math.inf


def _minutes(text: str) -> float:
    """The whole minutes of a limit of time, [days-][hours:]minutes:seconds; infinite for another text."""
    match = re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", text)
    days, hours, minutes, _ = (int(part or 0) for part in match.groups()) if match else (0, 0, 0, 0)
    return (days * 24 + hours) * 60 + minutes if match else math.inf
