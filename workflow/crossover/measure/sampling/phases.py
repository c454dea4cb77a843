"""The phases of a launch once its ranks have met: where its time goes."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from crossover.design.arm import Arm

CONNECTION = "connection"
"""Until the driver is ready: imports, sockets, farms."""

CALIBRATION = "calibration"
WARM_UP = "warm-up"

AROUND = "around blocks"
"""In rounds, but not timed: commands, lead-in, checks, draining."""

END = "end"
"""After the last round, until the driver has ended its processes."""


def timed(arm: Arm) -> str:
    """The phase of an arm's timed parts of blocks."""
    return "ceilings" if arm.ceiling else "null arm" if arm.null else "arms"


class Phases:
    """The seconds spent in each phase, by a `clock` in seconds."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter):
        self._clock = clock
        self.seconds: dict[str, float] = defaultdict(float)

    @contextmanager
    def during(self, phase: str) -> Iterator[None]:
        """Add the time of this context to a phase."""
        began = self._clock()
        yield
        self.seconds[phase] += self._clock() - began

    def add_block(self, arm: Arm, timed_seconds: float, whole_seconds: float) -> None:
        """Add a block of `arm` in a round."""
        self.seconds[timed(arm)] += timed_seconds
        self.seconds[AROUND] += whole_seconds - timed_seconds
