"""The axis of an experiment, the cells of its curves, and the metrics that are measured in a cell."""

from dataclasses import dataclass, field

from crossover.design.arm import Arm
from crossover.design.protocol import Keys, label


@dataclass(frozen=True)
class Axis:
    """The quantity that varies, with its unit."""

    name: str
    unit: str


@dataclass(frozen=True)
class Metric:
    """A measured quantity of a block, with its unit and the direction that is `better` (higher or lower).

    The unit also gives the bounds of the values: see record.SHARE and record.FACTOR.
    """

    name: str
    unit: str
    better: str
    levels: tuple[float, ...] = ()
    """Levels of a share, between 0 and 1, whose thresholds along the axis are estimated."""


@dataclass(frozen=True)
class Cell:
    """One point of one curve: the curve's `keys`, and `x` on the axis."""

    keys: Keys = field(hash=False)
    """The conditions held fixed along the curve; see design/protocol.py."""
    x: int
    arms: tuple[str, ...] = ()
    """The alternatives that take part in this cell, by `Arm.runs`; if empty, all do."""
    block_seconds: float | None = None
    """The shortest time of a block here, if it differs from the experiment's."""
    least_seconds: float = 0.0
    """The least time of a repetition here. One that surely lasts a block needs no calibration."""

    @property
    def protocol(self) -> str:
        """The label of the curve."""
        return label(self.keys)

    def has(self, arm: Arm) -> bool:
        """Whether the arm takes part in this cell."""
        return not self.arms or arm.runs in self.arms
