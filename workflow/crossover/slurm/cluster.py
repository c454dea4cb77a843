"""What Slurm says about the cluster: its partitions, their nodes and time limits, its configuration."""

import math
import re
import subprocess
import sys

SOON_SECONDS, LIMIT_SECONDS = 2, 10
"""The longest waits for an answer: for one without which a run goes on, and for others."""

UP = ("idle", "mixed", "allocated", "completing", "planned")
"""The states of nodes on which a job can start, now or after other jobs."""


def most_nodes(partitions: str | None, bound: int, jobs: int) -> int | None:
    """The most nodes that a run can use at a time: those of these partitions, at most `bound`, one for each of `jobs`.

    None if neither Slurm nor `bound` (then sys.maxsize) tells.
    """
    most = min(filter(None, [bound, nodes_in(ask_sinfo("%P %D"), partitions)]))
    return None if most == sys.maxsize else min(most, jobs)


def most_minutes(partitions: str | None) -> float:
    """The longest job that these partitions allow, or the default one without a name; infinite if unknown."""
    return minutes_in(ask_sinfo("%P %l"), partitions)


def partition_state(partitions: str | None) -> str:
    """The states of these partitions, or of the default one without a name, if none of them is up; otherwise empty."""
    return stopped_in(ask_sinfo("%P %a"), partitions)


def ask_sinfo(columns: str, *options: str) -> str:
    """These columns of each partition, as `sinfo` writes them; empty if Slurm does not answer soon."""
    return said(["sinfo", "--noheader", *options, f"--format={columns}"], SOON_SECONDS)


def nodes_down(partitions: str | None) -> tuple[int, dict[str, str]]:
    """How many nodes of these partitions, or of the default one without a name, are up; the states of the others."""
    return down_in(ask_sinfo("%P %N %T", "--Node"), partitions)


def down_in(answer: str, partitions: str | None) -> tuple[int, dict[str, str]]:
    """The same, from what `sinfo` answers.

    >>> down_in("main* n1 idle\\nmain* n2 drained\\nmain* n3 down*\\nold n4 down", None)
    (1, {'n2': 'drained', 'n3': 'down'})
    """
    rows = [line.split() for line in answer.splitlines()]
    own = {row[1]: row[2] for row in rows if len(row) == 3 and _is_among(row[0], partitions)}
    down = {node: state.rstrip("*~#+$@^") for node, state in own.items() if state.rstrip("~#+") not in UP}
    return len(own) - len(down), down


def nodes_in(answer: str, partitions: str | None) -> int | None:
    """The nodes of these partitions (names with commas), or of the default one without a name; None if unknown.

    >>> nodes_in("main* 3\\nsingle 1\\nmain* 1", None), nodes_in("main* 3\\nsingle 1", "single")
    (4, 1)
    >>> nodes_in("main* 3", "none") is None
    True
    """
    return sum(map(int, _column(answer, partitions))) or None


def minutes_in(answer: str, partitions: str | None) -> float:
    """The least time limit of these partitions, or of the default one without a name; infinite if unknown.

    >>> minutes_in("main* infinite\\nbrief 30:00", None), minutes_in("", None)
    (inf, inf)
    >>> minutes_in("a* 1-02:00:00\\nb 30:59", "a"), minutes_in("a* 1-02:00:00\\nb 30:59", "a,b")
    (1560, 30)
    """
    found = [re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", text) for text in _column(answer, partitions)]
    times = [[int(part or 0) for part in match.groups()] for match in found if match]
    return min(((days * 24 + hours) * 60 + minutes for days, hours, minutes, _ in times), default=math.inf)


def stopped_in(answer: str, partitions: str | None) -> str:
    """The states if none of the partitions is up; empty otherwise.

    >>> stopped_in("main* up\\nold down", None), stopped_in("main* up\\nold down", "old"), stopped_in("", "old")
    ('', 'down', '')
    """
    found = list(dict.fromkeys(_column(answer, partitions)))
    return "" if "up" in found else ", ".join(found)


def said(command: list[str], seconds: float) -> str:
    """What a command of Slurm writes; empty if it is not installed, or does not answer within `seconds`."""
    try:
        return subprocess.run(command, capture_output=True, timeout=seconds, encoding="utf-8", errors="replace").stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _column(answer: str, partitions: str | None) -> list[str]:
    """The second column of these partitions (names with commas), or of the default one without a name."""
    return [value for name, value in map(str.split, answer.splitlines()) if _is_among(name, partitions)]


def _is_among(name: str, partitions: str | None) -> bool:
    """Whether `sinfo` names one of these partitions so, or the default one, which has a star."""
    return name.rstrip("*") in partitions.split(",") if partitions else name.endswith("*")
