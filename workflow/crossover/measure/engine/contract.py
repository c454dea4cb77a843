"""The contract between the engine and the experiments: cells, metrics, and blocks that run a cell's arms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from crossover.planning.plan import Arm
from crossover.records.protocol import Keys, label


@dataclass(frozen=True)
class Axis:
    """What is varied, with its unit."""

    name: str
    unit: str


@dataclass(frozen=True)
class Metric:
    """What is read off a block, with its unit and the direction that is `better` (higher or lower).

    The unit also says between which bounds the values lie: see record.SHARE and record.FACTOR.
    """

    name: str
    unit: str
    better: str
    levels: tuple[float, ...] = ()
    """Of a share, between 0 and 1: from where along the axis on it reaches each of these is looked for."""


@dataclass(frozen=True)
class Cell:
    """One point of one curve: `keys` say what is held fixed along it, `variant` names it to the driver."""

    keys: Keys = field(hash=False)
    """See records/protocol.py."""
    x: int
    variant: str = ""
    arms: tuple[str, ...] = ()
    """The alternatives that mean something here, by what they run; none named, all do."""
    block_seconds: float | None = None
    """The least time that a block lasts here, where it is not the experiment's."""

    @property
    def protocol(self) -> str:
        """The name of the curve to readers."""
        return label(self.keys)

    def has(self, arm: Arm) -> bool:
        """Whether the arm takes part in this cell."""
        return not self.arms or arm.runs in self.arms


@dataclass(frozen=True)
class Block:
    """What one block gave: the seconds of its timed part and a value per metric, or a fault and no value."""

    seconds: float
    values: Mapping[str, float] = field(default_factory=dict)
    fault: str = ""


class Blocks(Protocol):
    """An experiment, seen from the engine."""

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Run `n` repetitions of `arm` in `cell`; check them; say what was measured."""
