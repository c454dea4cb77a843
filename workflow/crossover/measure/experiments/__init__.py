"""The experiments, one driver each, found by the name of its file; no other module lists them.

An experiment module has:

- `AXIS`, an `Axis`, and `METRICS`, a tuple of `Metric`;
- `cells(settings)`, the cells of one launch;
- `drive(peers, settings)`, on rank 0: a context manager that yields the `Blocks`;
- `serve(peers, settings)`, on every other rank: follows rank 0's commands until stopped.

It never imports another experiment.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any, Protocol, cast

from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import Axis, Blocks, Cell, Metric


class Experiment(Protocol):
    """The interface of a driver."""

    AXIS: Axis
    METRICS: tuple[Metric, ...]

    def cells(self, settings: dict[str, Any]) -> Sequence[Cell]:
        """The cells of one launch."""

    def drive(self, peers: Peers, settings: dict[str, Any]) -> AbstractContextManager[Blocks]:
        """On rank 0: set up, yield the blocks, and stop the other ranks."""

    def serve(self, peers: Peers, settings: dict[str, Any]) -> None:
        """Run on every other rank until stopped."""


def find(name: str) -> Experiment:
    """The driver of that experiment."""
    return cast(Experiment, import_module(f"{__name__}.{name}"))
