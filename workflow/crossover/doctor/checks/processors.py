"""May ranks use all processors that their job has?"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

from crossover.doctor.finding import NO_PAIR, Finding, Seen, Verdict
from crossover.doctor.pair import Pair


def look(pair: Pair) -> dict[str, Any]:
    """How many logical processors each rank may use, and its host has."""
    return {"ranks": pair.both({"free": len(os.sched_getaffinity(0)), "of": os.cpu_count()})}


def judge(seen: Seen) -> Finding:
    """Ranks that the launcher binds are a problem, for launches refuse them."""
    for facts in (seen.nodes, seen.node):
        if not (found := facts.get("pair", {}).get("processors")):
            continue
        mpi, wanted = facts["attempts"][-1]["mpi"], facts["processors"]
        rank = min(found["ranks"], key=lambda each: each["free"])
        said = f"a rank may use {rank['free']} of its host's {rank['of']}"
        if rank["free"] >= min(wanted, rank["of"]):
            return Finding(Verdict.OK, said)
        return Finding(Verdict.PROBLEM, f"{said}, its job {wanted}: {mpi} binds", "mpi", value=f"{mpi} {_free(mpi)}")
    return NO_PAIR


def _free(mpi: str) -> str:
    """The option that binds no rank."""
    return "--cpu-bind=none" if Path(shlex.split(mpi)[0]).name == "srun" else "--bind-to none"
