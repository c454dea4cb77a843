"""Does the launcher bring up ranks that see each other?"""

from __future__ import annotations

from typing import Any

from crossover.doctor.finding import Facts, Finding, Seen, Verdict
from crossover.doctor.rank import RANKS


def judge(seen: Seen) -> Finding:
    """A world of another size is a problem; the key names a launcher that worked in the same job."""
    facts = seen.node or seen.nodes
    if not facts:
        return Finding(Verdict.UNTOLD, "no job ran; see executor")
    asked = facts["attempts"][0]
    if together(asked):
        library = asked["worlds"][0]["library"]
        return Finding(Verdict.OK, f"{asked['mpi']} started {RANKS} ranks that see each other ({library})")
    return not_together(asked, facts)


def together(attempt: Facts) -> bool:
    """Whether both ranks came up in one world."""
    return [world["size"] for world in attempt["worlds"]] == [RANKS]


def not_together(asked: Facts, facts: Facts) -> Finding:
    """Ranks that came up alone or not at all, with the launcher that did better."""
    said = f"{asked['mpi']} {_outcome(asked)}"
    better = [each for each in facts["attempts"][1:] if together(each)]
    if better:
        works = better[-1]["mpi"]
        return Finding(Verdict.PROBLEM, f"{said}; {works} worked", "mpi", f"set it to {works}")
    tried = "; ".join(f"{each['mpi']} {_outcome(each)}" for each in facts["attempts"][1:])
    step = "ask the site how MPI programs are started; mpi4py may have to be built for its own MPI"
    return Finding(Verdict.PROBLEM, f"{said}; {tried or 'there is no other to try'}", "mpi", step)


def _outcome(attempt: Any) -> str:
    worlds = attempt["worlds"]
    if not worlds:
        return f"started none: {attempt['said'] or 'it did not say why'}"
    if together(attempt):
        return f"put both ranks on {', '.join(sorted(set(worlds[0]['hosts'])))}"
    alone = all(world["size"] == 1 for world in worlds)
    sizes = " and ".join(str(world["size"]) for world in worlds)
    return (
        f"started {len(worlds)} ranks that came up alone"
        if alone
        else f"started worlds of {sizes} ranks, not of {RANKS}"
    )
