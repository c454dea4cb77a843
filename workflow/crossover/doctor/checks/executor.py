"""Was a job submitted, and did it run?"""

from crossover.doctor.finding import Facts, Finding, Seen, Verdict
from crossover.slurm.acceptance import meaning

QUEUED_SECONDS = 60
"""With longer waits, the queue decides the duration of a run, not the measuring."""


def judge(seen: Seen) -> Finding:
    """A job that did not run is a problem; one that waited long a warning."""
    if seen.executor == "local" and seen.node:
        return Finding(Verdict.OK, f"launches run one after another on {seen.node['host']}, with no queue")
    ran = {name: facts for name, facts in (("one host", seen.node), ("two hosts", seen.nodes)) if facts}
    if not ran:
        words = seen.lost.get("node") or seen.lost.get("nodes") or "no job left any facts"
        return Finding(Verdict.PROBLEM, f"no job ran: {words}", *meaning(words))
    text = "; ".join(f"the job for {name} ran{_queued(facts)}" for name, facts in ran.items())
    if "node" in seen.lost:
        words = seen.lost["node"]
        return Finding(Verdict.PROBLEM, f"{text}; the job for one host did not run: {words}", *meaning(words))
    if max(facts["job"].get("queued_seconds", 0) for facts in ran.values()) > QUEUED_SECONDS:
        step = "a partition or qos with a shorter queue makes runs shorter; measurements do not depend on it"
        return Finding(Verdict.WARNING, text, "partition", step)
    if most := seen.fit.get("most_jobs"):
        text += f"; Slurm allows {most} of your jobs in the queue at a time, so a run would wait at further ones"
        return Finding(Verdict.WARNING, text, "jobs", value=most)
    return Finding(Verdict.OK, text)


def _queued(facts: Facts) -> str:
    seconds = facts["job"].get("queued_seconds")
    return "" if seconds is None else f" after {seconds:.0f} s in the queue"
