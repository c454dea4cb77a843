"""The contract between the sampler and the experiments: blocks that run a cell's arms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from crossover.design.arm import Arm
from crossover.design.cell import Cell

DAMAGED = "lost or damaged messages"
"""The fault of a block if not every message arrived as it was sent."""


@dataclass(frozen=True)
class Pair:
    """Two ranks that played in a block, by their numbers, the smaller first: a value per metric, or a fault."""

    ranks: tuple[int, int]
    values: Mapping[str, float] = field(default_factory=dict)
    fault: str = ""


@dataclass(frozen=True)
class Block:
    """The result of one block: the seconds of its timed part and a value per metric, or a fault and no value.

    A block in which ranks play in pairs has their results too.
    """

    seconds: float
    values: Mapping[str, float] = field(default_factory=dict)
    fault: str = ""
    pairs: Sequence[Pair] = ()


class Blocks(Protocol):
    """An experiment's driver, as the sampler sees it. It may have `notes`, sentences about its subject."""

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Run `n` repetitions of `arm` in `cell`, check them, and return the result."""
