"""The experiments, one driver each, found by the name of its file; no other module lists them. None imports another."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any, Protocol, cast

from crossover.design.axis import Axis
from crossover.design.cell import Cell, Metric
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import Blocks


class Experiment(Protocol):
    """The module of a driver."""

    AXIS: Axis
    METRICS: tuple[Metric, ...]

    def cells(self, settings: dict[str, Any]) -> Sequence[Cell]:
        """The cells of one launch."""

    def drive(self, peers: Peers, settings: dict[str, Any]) -> AbstractContextManager[Blocks]:
        """On rank 0: set up, yield the blocks, and stop the other ranks at the end."""

    def serve(self, peers: Peers, settings: dict[str, Any]) -> None:
        """On every other rank: follow rank 0's commands until stopped."""


def find(name: str) -> Experiment:
    """The driver of that experiment."""
    return cast(Experiment, import_module(f"{__name__}.{name}"))
