"""Can ranks use all processors of their job, and has a host one for each rank?"""

import os
import shlex
from pathlib import Path
from typing import Any

from crossover.doctor.finding import NO_PAIR, Finding, Seen, Verdict
from crossover.doctor.pair import Pair


def look(pair: Pair) -> dict[str, Any]:
    """The number of logical processors that each rank can use, and that its host has."""
    return {"ranks": pair.both({"free": len(os.sched_getaffinity(0)), "of": os.cpu_count()})}


def judge(seen: Seen) -> Finding:
    """Ranks that the launcher binds are a problem, because launches refuse them."""
    for facts in (seen.nodes, seen.node):
        if not (found := facts.get("pair", {}).get("processors")):
            continue
        mpi, wanted = facts["attempts"][-1]["mpi"], facts["processors"]
        rank = min(found["ranks"], key=lambda each: each["free"])
        text = f"a rank may use {rank['free']} of its host's {rank['of']} logical processors"
        if rank["free"] >= min(wanted, rank["of"]):
            return Finding(Verdict.OK, f"{text}{_fit(seen)}")
        cause = f"{text}, but its job {wanted}, because {mpi} binds ranks"
        unbound = "--cpu-bind=none" if Path(shlex.split(mpi)[0]).name == "srun" else "--bind-to none"
        return Finding(Verdict.PROBLEM, cause, "mpi", value=f"{mpi} {unbound}")
    return NO_PAIR


def _fit(seen: Seen) -> str:
    """Whether a host has a processor for each rank of the tier's launches; empty if that is unknown."""
    if not seen.fit:
        return ""
    return f"; tier {seen.fit['tier']}: {seen.fit['wide'] or 'no launch has more ranks on a host than processors'}"
