"""Do two ranks come up on two hosts?"""

from __future__ import annotations

from crossover.doctor.checks.launcher import not_together, together
from crossover.doctor.finding import Finding, Seen, Verdict
from crossover.doctor.refusals import meaning


def judge(seen: Seen) -> Finding:
    """A job for two hosts that does not run, or whose ranks share one, is a problem of that placement alone."""
    if seen.local:
        return Finding(Verdict.UNTOLD, "one host; what crosses the network is measured on a cluster")
    if not seen.nodes:
        if not seen.node:
            return Finding(Verdict.UNTOLD, "no job ran; see executor")
        words = seen.lost.get("nodes", "the job has left nothing")
        return Finding(Verdict.PROBLEM, f"the job for two hosts did not run: {words}", *meaning(words))
    asked, *others = seen.nodes["attempts"]
    if not together(asked):
        return not_together(asked, seen.nodes)
    found = asked["worlds"][0]["hosts"]
    if len(set(found)) == len(found):
        return Finding(Verdict.OK, f"{asked['mpi']} put its ranks on {' and '.join(found)}")
    said = f"{asked['mpi']} put both ranks on {found[0]}, though the job has two hosts"
    spread = [each["mpi"] for each in others if together(each) and len(set(each["worlds"][0]["hosts"])) > 1]
    if spread:
        return Finding(Verdict.PROBLEM, f"{said}; {spread[-1]} worked", "mpi", f"set it to {spread[-1]}")
    step = "set a launcher that spreads the ranks over the job's nodes, as Slurm's srun does"
    return Finding(Verdict.PROBLEM, said, "mpi", step)
