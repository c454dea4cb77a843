"""The nodes on which a cluster can run launches, for the estimate of a run's duration."""

import subprocess
import sys
from typing import Any

from crossover.run import session

LIMIT_SECONDS = 2


def most_nodes(workflow: Any) -> int | None:
    """The most nodes that this run can use at a time, by the partition and the key `nodes`; None if unknown."""
    bounds = [session.hosts(workflow)]
    launches = [job.resources for job in workflow.dag.needrun_jobs(exclude_finished=False) if job.rule.name == "launch"]
    # A dry run ends before the estimate, and in it Snakemake names no batch system, but the jobs' requests do.
    if workflow.executor_plugin.name == "slurm" or any(each.get("slurm_extra") for each in launches):
        names = dict.fromkeys(each.get("slurm_partition") for each in launches)
        answer = ask()
        bounds += filter(None, [size(answer, name) for name in names])
    most = min(bounds)
    return None if most == sys.maxsize else min(most, workflow.nodes)


def ask() -> str:
    """The size of each partition, as `sinfo` writes it in two columns; empty if Slurm does not answer soon."""
    command = ["sinfo", "--noheader", "--format=%P %D"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def size(answer: str, partitions: str | None) -> int | None:
    """The nodes of these partitions (names with commas), or of the default one without a name; None if unknown.

    >>> size("main* 3\\nsingle 1\\nmain* 1", None), size("main* 3\\nsingle 1", "single"), size("main* 3", "none")
    (4, 1, None)
    """
    names = partitions.split(",") if partitions else []
    rows = [line.split() for line in answer.splitlines()]
    found = [int(count) for name, count in rows if (name.rstrip("*") in names if names else name.endswith("*"))]
    return sum(found) or None
