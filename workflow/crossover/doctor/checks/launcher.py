"""Does the launcher start ranks in one MPI world?"""

from crossover.doctor.attempt import RANKS, outcome, together
from crossover.doctor.finding import NO_JOB, Facts, Finding, Seen, Verdict


def judge(seen: Seen) -> Finding:
    """A world of the wrong size is a problem; the finding names a launcher that worked in the same job."""
    facts = seen.node or seen.nodes
    if not facts:
        return NO_JOB
    first = facts["attempts"][0]
    if together(first):
        library = first["worlds"][0]["library"]
        return Finding(Verdict.OK, f"{first['mpi']} started {RANKS} ranks that see each other ({library})")
    return not_together(facts)


def not_together(facts: Facts) -> Finding:
    """The finding for ranks that started alone or not at all, with a launcher that worked in the same job."""
    first, *others = facts["attempts"]
    text = f"{first['mpi']} {outcome(first)}"
    for other in reversed(others):
        if together(other):
            return Finding(Verdict.PROBLEM, f"{text}; {other['mpi']} worked", "mpi", value=other["mpi"])
    tried = "; ".join(f"{each['mpi']} {outcome(each)}" for each in others)
    step = "ask the site how to start MPI programs; mpi4py may need to be built for the site's MPI"
    return Finding(Verdict.PROBLEM, f"{text}; {tried or 'there is no other launcher'}", "mpi", step)
