"""A toy experiment that spins for the arm's time. Tests put it into a copy of the project as a new driver."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, sleep

from crossover.experiments.toy import Settings

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import Block


def cells(settings: Settings) -> list[Cell]:
    """One cell per weight."""
    return [Cell({"work": "spin"}, weight) for weight in settings.weights]


class Spinner:
    """Makes turns: a heavier weight takes longer, and the slow arm 1.5 times as long."""

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Make `n` turns."""
        seconds = n * 2e-5 * cell.x**0.1 * (1.5 if arm.runs == "slow" else 1)
        began = perf_counter()
        while perf_counter() - began < seconds:
            pass
        # The time that was meant: how long it took beside other tests would say nothing about the project.
        return Block(seconds, {"pace": n / seconds})


@contextmanager
def drive(peers: Peers, settings: Settings) -> Iterator[Spinner]:
    """Spin on rank 0; a test may set a pause before, to have time to interfere."""
    channel = peers.channel(to=1)
    sleep(float(os.environ.get("CROSSOVER_TOY_SECONDS", 0)))
    yield Spinner()
    channel.send(None)


def serve(peers: Peers, settings: Settings) -> None:
    """Wait on rank 1."""
    peers.channel(to=0).receive()
