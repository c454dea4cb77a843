"""One file per experiment kind, found by its name; nothing else knows which kinds there are.

An experiment module has:

- `AXIS`, an `Axis`, and `METRICS`, a tuple of `Metric`;
- `cells(settings)`, the cells of one launch;
- `drive(peers, settings)`, on rank 0: a context manager that gives the `Blocks`;
- `serve(peers, settings)`, on every other rank: does what it is told until told to stop.

It may use the sampler's contract, the peers and the farms, never another experiment.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any, Protocol, cast

from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import Axis, Blocks, Cell, Metric


class Experiment(Protocol):
    """What an experiment module looks like."""

    AXIS: Axis
    METRICS: tuple[Metric, ...]

    def cells(self, settings: dict[str, Any]) -> Sequence[Cell]:
        """The cells of one launch."""

    def drive(self, peers: Peers, settings: dict[str, Any]) -> AbstractContextManager[Blocks]:
        """Set up on rank 0; run blocks; tear down."""

    def serve(self, peers: Peers, settings: dict[str, Any]) -> None:
        """Be the other end, on every other rank."""


def find(name: str) -> Experiment:
    """The experiment of that name."""
    return cast(Experiment, import_module(f"{__name__}.{name}"))
