"""Do two ranks start on two hosts?"""

from crossover.doctor.attempt import apart, hosts, outcome, together
from crossover.doctor.checks.launcher import not_together
from crossover.doctor.finding import NO_JOB, Finding, Seen, Verdict
from crossover.paths import SITE
from crossover.slurm.acceptance import meaning

NAMED = 8
"""The most nodes of a suggested list."""
FEWEST = 3
"""Of two nodes, there is only one pair."""


def judge(seen: Seen) -> Finding:
    """A job for two hosts that does not run, or whose ranks share one, is a problem for placement `nodes` only."""
    if seen.executor == "local":
        return Finding(Verdict.UNKNOWN, "this is one host; exchanges over a network need a cluster")
    if not seen.nodes:
        if not seen.node:
            return NO_JOB
        if "nodes" not in seen.lost:
            why = "the site's key `nodes` allows one node at a time, so there was no job for two hosts"
            return Finding(Verdict.UNKNOWN, why)
        words = seen.lost["nodes"]
        left_out = seen.fit.get("left_out")
        rest = f"; a run leaves out launches across hosts of {left_out}" if left_out else ""
        return Finding(Verdict.PROBLEM, f"the job for two hosts did not run: {words}{rest}", *meaning(words))
    first, *others = seen.nodes["attempts"]
    spread = next((each for each in others if apart(each)), None)
    if not together(first):
        if seen.node and not together(seen.node["attempts"][0]):
            better = f"; {spread['mpi']} {outcome(spread)}" if spread else ""
            text = f"{first['mpi']} brings no ranks together; see the finding `launcher`{better}"
            return Finding(Verdict.UNKNOWN, text)
        return not_together(seen.nodes)
    if apart(first):
        return Finding(Verdict.OK, f"{first['mpi']} {outcome(first)}{_rotation(seen)}")
    text = f"{first['mpi']} put both ranks on {hosts(first)[0]}, though the job has two hosts"
    if spread:
        return Finding(Verdict.PROBLEM, f"{text}; {spread['mpi']} worked", "mpi", value=spread["mpi"])
    step = "choose a launcher that spreads the ranks over the job's nodes, such as Slurm's srun"
    return Finding(Verdict.PROBLEM, text, "mpi", step)


def _rotation(seen: Seen) -> str:
    """The line with which launches rotate over the nodes that are up; empty if there is no need for it."""
    if len(seen.nodes_up) < FEWEST:
        return ""
    count = f" (the first {NAMED} of {len(seen.nodes_up)})" if len(seen.nodes_up) > NAMED else ""
    return (
        f"; launches across hosts run where Slurm puts them; to rotate them over nodes that are up{count}, so that a "
        f"slow node shows, add to {SITE}: `node_list: [{', '.join(seen.nodes_up[:NAMED])}]`"
    )
