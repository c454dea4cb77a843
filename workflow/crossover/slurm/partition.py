"""The nodes and the time that partitions of Slurm have for launches."""

import math
import os
import re
import subprocess
import sys

LIMIT_SECONDS = 2
UP = ("idle", "mixed", "allocated", "completing", "planned")
"""The states of nodes on which a job can start, now or after other jobs."""


def most_nodes(partitions: str | None, bound: int, jobs: int) -> int | None:
    """The most nodes that a run can use at a time: those of these partitions, at most `bound`, one for each of `jobs`.

    None if neither Slurm nor `bound` (then sys.maxsize) tells.
    """
    most = min(filter(None, [bound, size(ask("%P %D"), partitions)]))
    return None if most == sys.maxsize else min(most, jobs)


def most_minutes(partitions: str | None) -> float:
    """The longest job that these partitions allow, or the default one without a name; infinite if unknown."""
    return limit_minutes(ask("%P %l"), partitions)


def state(partitions: str | None) -> str:
    """The states of these partitions, or of the default one without a name, if none of them is up; otherwise empty."""
    return stopped(ask("%P %a"), partitions)


def ask(columns: str, *options: str) -> str:
    """These columns of each partition, as `sinfo` writes them; empty if Slurm does not answer soon."""
    return _said(["sinfo", "--noheader", *options, f"--format={columns}"])


def _said(command: list[str]) -> str:
    try:
        return subprocess.run(
            command, capture_output=True, timeout=LIMIT_SECONDS, encoding="utf-8", errors="replace"
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def of_job() -> str:
    """The partition of the job in which this process runs; empty outside Slurm, or if Slurm does not answer."""
    job = os.environ.get("SLURM_JOB_ID")
    # The processes of a job of Snakemake lack the variable SLURM_JOB_PARTITION.
    return _said(["squeue", "--noheader", "--jobs", job, "--format=%P"]).strip() if job else ""


def up(partition: str, feature: str = "") -> list[str]:
    """The names of the nodes of a partition that are up, only those with this feature; empty if Slurm does not answer.

    Empty too for a `feature` that is an expression, because only Slurm can evaluate it.
    """
    return nodes_up(ask("%N %R %T %f", "--Node"), partition, feature)


def nodes_up(answer: str, partition: str, feature: str = "") -> list[str]:
    """The same, from what `sinfo` answers.

    >>> nodes_up("n1 main idle ib\\nn2 main down* ib\\nn3 main mixed (null)\\nn4 small idle ib", "main")
    ['n1', 'n3']
    >>> nodes_up("n1 main idle ib,fast\\nn3 main mixed (null)", "main", "fast")
    ['n1']
    """
    rows = [line.split(maxsplit=3) for line in answer.splitlines()]
    return [
        name
        for name, own, state, features in (row for row in rows if len(row) == 4)
        # A state without its marks: those of nodes that do not answer, or are reserved or about to reboot, stay.
        if own == partition and state.rstrip("~#+") in UP and (not feature or feature in features.split(","))
    ]


def size(answer: str, partitions: str | None) -> int | None:
    """The nodes of these partitions (names with commas), or of the default one without a name; None if unknown.

    >>> size("main* 3\\nsingle 1\\nmain* 1", None), size("main* 3\\nsingle 1", "single"), size("main* 3", "none")
    (4, 1, None)
    """
    return sum(map(int, _column(answer, partitions))) or None


def limit_minutes(answer: str, partitions: str | None) -> float:
    """The least time limit of these partitions, or of the default one without a name; infinite if unknown.

    >>> limit_minutes("main* infinite\\nbrief 30:00", None), limit_minutes("", None)
    (inf, inf)
    >>> limit_minutes("a* 1-02:00:00\\nb 30:59", "a"), limit_minutes("a* 1-02:00:00\\nb 30:59", "a,b")
    (1560, 30)
    """
    found = [re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", text) for text in _column(answer, partitions)]
    times = [[int(part or 0) for part in match.groups()] for match in found if match]
    return min(((days * 24 + hours) * 60 + minutes for days, hours, minutes, _ in times), default=math.inf)


def stopped(answer: str, partitions: str | None) -> str:
    """The states if none of the partitions is up; empty otherwise.

    >>> stopped("main* up\\nold down", None), stopped("main* up\\nold down", "old"), stopped("", "old")
    ('', 'down', '')
    """
    found = list(dict.fromkeys(_column(answer, partitions)))
    return "" if "up" in found else ", ".join(found)


def _column(answer: str, partitions: str | None) -> list[str]:
    """The second column of these partitions (names with commas), or of the default one without a name."""
    names = partitions.split(",") if partitions else []
    rows = [line.split() for line in answer.splitlines()]
    return [value for name, value in rows if (name.rstrip("*") in names if names else name.endswith("*"))]
