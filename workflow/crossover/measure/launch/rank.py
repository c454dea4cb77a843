"""One rank of a launch: meet the others, then conduct the measurement (rank 0) or be the other end of it."""

from __future__ import annotations

import json
import socket
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from crossover.measure import experiments
from crossover.measure.launch.host_lock import alone, as_a_guest
from crossover.measure.machine import provenance
from crossover.measure.processes.ending import die_with_parent
from crossover.measure.ranks import network
from crossover.measure.ranks.peers import Peers
from crossover.planning import plan
from crossover.records.holes import HoleKind, Refusal


def run(
    experiment: str,
    launch: int,
    settings: dict[str, Any],
    interface: str,
    processors: int,
    part: Path,
    refusal: Path,
) -> int:
    """Be one rank, which must be free to use so many logical processors.

    Returns the exit code: 0, or 3 where the launch was refused with its reason in `refusal`.
    """
    die_with_parent()
    try:
        with as_a_guest() as guest, ExitStack() as resources:
            # Before anything that takes long to import: until the ranks have met, a kill leaves MPI's shared memory.
            placement = settings["placement"]
            peers = _meet(settings, interface)
            if guest and peers.is_first_of_its_host:
                resources.enter_context(alone(print, _refuse_to_wait))
            peers.require_processors(processors)
            if "thread_level" in settings:
                peers.require_thread_level(settings["thread_level"])
            kind = experiments.find(experiment)
            if peers.rank:
                kind.serve(peers, settings)
                return 0
            # Here, because what writes files is slow to load, and the other ranks have no use for it.
            from crossover.measure.launch.conduct import conduct

            conduct(kind, peers, settings, {"experiment": experiment, "placement": placement, "launch": launch}, part)
            return 0
    except Refusal as reason:
        # Any rank may be the first to refuse; the others are ended as soon as it ends.
        with suppress(FileExistsError), refusal.open("x") as file:
            json.dump({"hole": reason.kind, "reason": str(reason)}, file)
        return 3


def _meet(settings: dict[str, Any], interface: str) -> Peers:
    placement = settings["placement"]
    # Looked for by all together: before they have met, a rank that ends leaves MPI's shared memory.
    return Peers(
        placement,
        plan.ranks(settings),
        plan.nodes(settings),
        lambda: provenance.gather(network.reach(placement, interface)),
    )


def _refuse_to_wait() -> None:
    raise Refusal(
        HoleKind.HOST_IN_USE,
        f"another launch of yours is being measured on {socket.gethostname()}; measure on nodes that are yours alone",
    )
