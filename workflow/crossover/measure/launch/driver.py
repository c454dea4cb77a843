"""The driver of an experiment: the code that measures it, found by the name of its folder."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any, Protocol, cast

from crossover.design.cell import Cell
from crossover.design.settings import Settings
from crossover.measure.ranks.peers import Peers
from crossover.measure.sampling.contract import Blocks


class Driver(Protocol):
    """The module of a driver."""

    def cells(self, settings: Settings) -> Sequence[Cell]:
        """The cells of one launch."""

    def drive(self, peers: Peers, settings: Settings) -> AbstractContextManager[Blocks]:
        """On rank 0: set up, yield the blocks, and stop the other ranks at the end."""

    def serve(self, peers: Peers, settings: Settings) -> None:
        """On every other rank: follow rank 0's commands until stopped."""


class UsersDriver(Driver, Protocol):
    """The module of a driver that measures a user's file."""

    def look(self, file: str, sources: Mapping[str, str]) -> Any:
        """Call the functions of the file a few times, before anything is measured; returns a dataclass of facts."""


def find_users(experiment: str) -> UsersDriver:
    """The driver of that experiment on a user's file."""
    return cast(UsersDriver, find(experiment))


def find(experiment: str) -> Driver:
    """The driver of that experiment."""
    return cast(Driver, import_module(f"crossover.experiments.{experiment}.driver"))
