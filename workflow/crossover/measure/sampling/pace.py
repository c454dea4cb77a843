"""What a block took in an earlier launch, which saves a calibration."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from crossover.design.cell import Cell
from crossover.design.protocol import identity

Place = tuple[str, float, str]
"""A curve by its `protocol.identity`, a point of its axis, and an alternative."""

MARGIN = 1.15
"""A block is planned this much longer than wanted, because blocks scatter."""


@dataclass(frozen=True)
class Pace:
    """The seconds of an alternative's block in one cell: of a repetition, and besides its timed part."""

    repetition_seconds: float
    around_seconds: float

    def block(self, seconds: float) -> tuple[int, float]:
        """The repetitions of a block of at least so many timed `seconds`, and the whole seconds of that block."""
        n = max(1, math.ceil(MARGIN * seconds / self.repetition_seconds))
        return n, n * self.repetition_seconds + self.around_seconds


Paces = Mapping[Place, Pace]


def place(cell: Cell, runs: str) -> Place:
    """Where a pace belongs."""
    return identity(cell.keys) if cell.keys else "", cell.x, runs
