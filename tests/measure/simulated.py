"""A machine whose arms have known speeds, on a clock that only its blocks move.

Like a real machine, it drifts during a launch, its blocks scatter, and some blocks are interrupted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.design.settings import Rounds, Settings
from crossover.measure.sampling.contract import Block
from crossover.measure.sampling.sampler import Paces, Phases, Sample, Sampler

ARMS = (Arm("plain", "plain"), Arm("fancy", "fancy"), Arm("null", "plain"))
CELL = Cell({}, 1)


class EndlessError(Exception):
    """The sampler runs more blocks than any correct stop rule needs."""


@dataclass
class Machine:
    """Runs blocks of simulated time; `x` of a cell multiplies the seconds of a repetition."""

    seconds: Mapping[str, float]
    """Seconds per repetition of each alternative, at the start of the launch."""
    untimed: float = 0.0
    """Seconds that a block takes in addition to its timed part."""
    drift: float = 0.0
    """The share by which the machine is slower after `drift_seconds`; it grows steadily until then."""
    drift_seconds: float = 1.0
    scatter: float = 0.0
    """Standard deviation of the logarithm of a block's time."""
    interrupted: float = 0.0
    """The probability that a block takes longer by a heavy-tailed factor."""
    fault: Callable[[Cell, Arm], str] = lambda cell, arm: ""
    at_most: int = 100_000
    random: Random = field(default_factory=lambda: Random(1))
    now: float = 0.0
    ran: list[tuple[Cell, Arm, int, float]] = field(default_factory=list)
    """Every block: its cell, arm, repetitions and timed seconds."""
    phases: Phases = field(default_factory=Phases)
    """The time of the last launch."""

    def clock(self) -> float:
        """Seconds since the machine was made."""
        return self.now

    def run(self, cell: Cell, arm: Arm, n: int) -> Block:
        """Run a block; a faulty one takes the same time but has no value."""
        if len(self.ran) >= self.at_most:
            raise EndlessError(f"{self.at_most} blocks and no end")
        slower = 1 + self.drift * self.now / self.drift_seconds
        noise = math.exp(self.random.gauss(0, self.scatter))
        if self.random.random() < self.interrupted:
            noise *= self.random.paretovariate(1.2)
        seconds = n * self.seconds[arm.runs] * cell.x * slower * noise
        self.now += seconds + self.untimed
        self.ran.append((cell, arm, n, seconds))
        fault = self.fault(cell, arm)
        return Block(seconds, fault=fault) if fault else Block(seconds, {"time": seconds / n})

    def launch(
        self,
        sampling: Settings,
        cells: Sequence[Cell] = (CELL,),
        arms: Sequence[Arm] = ARMS,
        seed: int = 1,
        disturbance: Callable[[], str] = lambda: "ok",
        progress: Callable[[int, int, Sample, float, float], None] = lambda *_: None,
        settled: float = 0.0,
        paces: Paces | None = None,
    ) -> list[Sample]:
        """All samples of a launch on this machine; by default no ratio is settled, however far it is from 1."""
        self.phases = Phases(self.clock)
        told = (self.clock, disturbance, progress, self.phases, settled, paces or {})
        sampler = Sampler(self, sampling, Random(seed), *told)
        return list(sampler.sample(cells, arms))


def sampling(
    block_seconds: float = 0.01,
    at_least: int = 10,
    at_most: int = 100,
    width: float = 1e-6,
    budget: float = 1000.0,
    fewest: int = 3,
) -> Settings:
    """Settings with which a cell ends after `at_most` rounds, unless told otherwise."""
    return Settings(
        arms=(),
        reference="",
        launches=1,
        block_seconds=block_seconds,
        rounds=Rounds(at_most, at_least),
        target_width=width,
        budget_seconds=budget,
        fewest_rounds=fewest,
    )
