"""What Slurm says about a job that has ended: its state, its nodes, the node time that it used."""

import re
import subprocess
from dataclasses import dataclass

LIMIT_SECONDS = 10

FROM_OUTSIDE = (
    *("BOOT_FAIL", "CANCELLED", "DEADLINE", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "SPECIAL_EXIT"),
    *("STOPPED", "SUSPENDED", "TIMEOUT"),
)
"""States of a job that did not end by itself."""


@dataclass(frozen=True)
class Fate:
    """The end of a job."""

    state: str = ""
    """As Slurm names it, such as `NODE_FAIL`; empty if Slurm does not know the job any more."""
    nodes: str = ""
    """The names of its nodes, such as `node[1-2]`; empty if it had none."""
    node_seconds: float = 0.0

    @property
    def from_outside(self) -> bool:
        """Whether the job was ended, and not by its own processes."""
        return self.state in FROM_OUTSIDE

    def __str__(self) -> str:
        return " on ".join(filter(None, [self.state, self.nodes]))


def ask(job: str) -> Fate:
    """The fate of a job by its number, from the controller, or from the accounts if that has forgotten it."""
    told = _output("scontrol", "--oneliner", "show", "job", job)
    if "JobState=" in told:
        return of_controller(told)
    columns = "--format=State,NodeList,ElapsedRaw,AllocNodes"
    return of_accounts(_output("sacct", "--jobs", job, "--noheader", "--allocations", "--parsable2", columns))


def of_controller(told: str) -> Fate:
    """The fate in the answer of `scontrol --oneliner show job`.

    >>> of_controller("JobId=7 JobState=NODE_FAIL Reason=NodeDown RunTime=1-00:01:05 NodeList=n[1-2] NumNodes=2")
    Fate(state='NODE_FAIL', nodes='n[1-2]', node_seconds=172930)
    >>> of_controller("JobId=8 JobState=CANCELLED RunTime=00:00:00 NodeList=(null) NumNodes=1")
    Fate(state='CANCELLED', nodes='', node_seconds=0)
    """
    facts = dict(re.findall(r"(?<!\S)(JobState|RunTime|NodeList|NumNodes)=(\S+)", told))
    days, _, clock = facts.get("RunTime", "").rpartition("-")
    hours, minutes, seconds = map(int, (clock or "0:0:0").split(":"))
    nodes = facts.get("NodeList", "").replace("(null)", "")
    # NumNodes can be a range of what was asked for.
    count = int(facts.get("NumNodes", "1").split("-")[0])
    return Fate(
        facts.get("JobState", ""), nodes, (((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds) * count
    )


def of_accounts(told: str) -> Fate:
    """The fate in the answer of `sacct`, its last line if the job ran more than once.

    >>> of_accounts("CANCELLED by 0|node1|12|1\\n")
    Fate(state='CANCELLED', nodes='node1', node_seconds=12)
    >>> of_accounts("PENDING|None assigned|0|0"), of_accounts("")
    (Fate(state='PENDING', nodes='', node_seconds=0), Fate(state='', nodes='', node_seconds=0.0))
    """
    rows = [line.split("|") for line in told.splitlines() if line.count("|") == 3]
    if not rows:
        return Fate()
    state, nodes, seconds, count = rows[-1]
    return Fate(state.split()[0], nodes.replace("None assigned", ""), int(seconds or 0) * int(count or 0))


def _output(*command: str) -> str:
    try:
        return subprocess.run(
            command, capture_output=True, timeout=LIMIT_SECONDS, encoding="utf-8", errors="replace"
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
