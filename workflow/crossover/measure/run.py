"""One rank of a launch: meet the others, then conduct the measurement (rank 0) or be the other end of it."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from crossover import plan
from crossover.measure import experiments, provenance
from crossover.measure.death import die_with_parent
from crossover.measure.peers import Peers, Refusal


def run(experiment: str, launch: int, settings: dict[str, Any], part: Path, refusal: Path) -> int:
    """Be one rank. Returns the exit code: 0, or 3 where the launch was refused with its reason in `refusal`."""
    die_with_parent()
    try:
        # Before anything that takes long to import: until the ranks have met, a kill leaves MPI's shared memory.
        placement = settings["placement"]
        peers = Peers(placement, plan.ranks(settings), provenance.gather)
        if "thread_level" in settings:
            peers.require_thread_level(settings["thread_level"])
        kind = experiments.find(experiment)
        if peers.rank:
            kind.serve(peers, settings)
            return 0
        # Here, because what writes files is slow to load, and the other ranks have no use for it.
        from crossover.measure.conduct import conduct

        conduct(kind, peers, settings, {"experiment": experiment, "placement": placement, "launch": launch}, part)
        return 0
    except Refusal as reason:
        # Any rank may be the first to refuse; the others are ended as soon as it ends.
        with suppress(FileExistsError), refusal.open("x") as file:
            json.dump({"hole": reason.kind, "reason": str(reason)}, file)
        return 3
