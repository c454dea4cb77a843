"""One rank of a launch: meets the others, then conducts the measurement (rank 0) or follows its commands."""

import socket
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from crossover.design import experiments
from crossover.design.launch import Launch
from crossover.measure.launch import driver
from crossover.measure.launch.host_lock import alone, as_a_guest
from crossover.measure.ranks import network, provenance
from crossover.measure.ranks.ending import die_with_parent
from crossover.measure.ranks.peers import Peers
from crossover.records.holes import HoleKind, Refusal, reason_kept


def run(launch: Launch, interface: str, processors: int, part: Path, refusal: Path) -> int:
    """Run one rank, which must be able to use `processors` logical processors.

    Returns the exit code: 0, or 3 if the launch was refused. The file `refusal` gets the reason, also of an exception.
    """
    die_with_parent()
    settings = launch.settings
    try:
        with reason_kept(refusal), as_a_guest() as guest, ExitStack() as resources:
            # Before any slow import, because a rank that is killed before all have met leaves MPI's shared memory.
            peers = Peers(
                launch.placement,
                settings.ranks,
                settings.nodes,
                # Checked after the ranks have met, because a rank that ends earlier leaves MPI's shared memory behind.
                lambda: provenance.gather(
                    network.reach(launch.placement, interface), experiments.of(launch.experiment).packages
                ),
            )
            if guest and peers.is_first_of_its_host:
                resources.enter_context(alone(print, _refuse_to_wait))
            peers.require_processors(processors)
            if level := settings.mpi_thread_level:
                peers.require_thread_level(level)
            measured = driver.find(launch.experiment)
            if peers.rank:
                measured.serve(peers, settings)
                return 0
            # Imported here, because it is slow to load and only rank 0 needs it.
            from crossover.measure.launch.conduct import conduct

            conduct(measured, peers, launch, part, partial(reason_kept, refusal))
            return 0
    except Refusal:
        return 3


def _refuse_to_wait() -> None:
    raise Refusal(
        HoleKind.DISTURBED, f"another launch of yours runs on {socket.gethostname()}; measure on exclusive nodes"
    )
