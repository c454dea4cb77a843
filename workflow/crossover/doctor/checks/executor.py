"""Was a job submitted, and did it run?"""

from __future__ import annotations

import os
import re
import subprocess
from datetime import datetime
from typing import Any

from crossover.doctor.finding import Finding, Seen, Verdict
from crossover.doctor.refusals import meaning

ASK_SECONDS = 10
QUEUED_SECONDS = 60
"""From here on the queue, and not the measuring, decides how long a run takes."""


def job() -> dict[str, Any]:
    """What the batch system says of this job; empty outside one, or where it is not Slurm's."""
    number = os.environ.get("SLURM_JOB_ID")
    if not number:
        return {}
    try:
        asked = subprocess.run(
            ["scontrol", "show", "job", "--oneliner", number], capture_output=True, text=True, timeout=ASK_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return {"number": number}
    return {"number": number} | queued(asked.stdout)


def queued(told: str) -> dict[str, Any]:
    """Partition, nodes and seconds in the queue, from what `scontrol show job` says."""
    facts = dict(re.findall(r"\b(SubmitTime|StartTime|Partition|NodeList)=(\S+)", told))
    found: dict[str, Any] = {"partition": facts.get("Partition", ""), "nodes": facts.get("NodeList", "")}
    try:
        times = [datetime.fromisoformat(facts[name]) for name in ("SubmitTime", "StartTime")]
    except (KeyError, ValueError):
        return found
    return found | {"queued_seconds": (times[1] - times[0]).total_seconds()}


def judge(seen: Seen) -> Finding:
    """A job that did not run is a problem; one that waited long a warning."""
    if seen.local and seen.node:
        return Finding(Verdict.OK, f"launches run one after another on {seen.node['host']}, with no queue")
    ran = [facts for facts in (seen.node, seen.nodes) if facts]
    if not ran:
        words = seen.lost.get("node") or seen.lost.get("nodes") or "no job has left anything"
        return Finding(Verdict.PROBLEM, f"no job ran: {words}", *meaning(words))
    said = "; ".join(_run(facts) for facts in ran)
    if "node" in seen.lost:
        words = seen.lost["node"]
        return Finding(Verdict.PROBLEM, f"{said}; the job for one host did not run: {words}", *meaning(words))
    if max(facts["job"].get("queued_seconds", 0) for facts in ran) > QUEUED_SECONDS:
        step = "a partition or qos with shorter queues would make a run shorter; what is measured does not depend on it"
        return Finding(Verdict.WARNING, said, "partition", step)
    return Finding(Verdict.OK, said)


def _run(facts: Any) -> str:
    job = facts["job"]
    where = job.get("nodes") or facts["host"]
    partition = f" of partition {job['partition']}" if job.get("partition") else ""
    queue = f" after {job['queued_seconds']:.0f} s in the queue" if "queued_seconds" in job else ""
    return f"a job ran on {where}{partition}{queue}"
