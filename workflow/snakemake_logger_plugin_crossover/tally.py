"""The launches of a run as they start and end, and the time that is left."""

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

STEP_SECONDS = 1.0
"""The expected time of a step that is no launch."""

Key = tuple[str, str, int]
"""Experiment, placement and number of a launch."""


@dataclass
class Tally:
    """What a run has to do and has done; times in seconds."""

    expected: dict[Key, float] = field(default_factory=dict)
    steps: int = 0
    """Steps that are no launches."""
    running: set[Key] = field(default_factory=set)
    """Launches under way, or in the queue."""
    done: set[Key] = field(default_factory=set)
    steps_done: int = 0
    later: int = 0
    """The most launches that are not known yet."""
    later_seconds: float = 0.0
    """Their time."""
    wall_seconds: float = 0.0
    """The expected time of the whole run, in which launches may be side by side."""
    began: float | None = None
    """When the first launch began, on the clock of `time.monotonic`; launches may wait in a queue before."""
    _told: tuple[float, int] = (math.inf, 0)
    """The time that was left when it was last asked for, and the number of launches that were known."""

    @property
    def position(self) -> str:
        """How many launches are done, and of how many."""
        most = "at most " if self.later else ""
        return f"{len(self.done)} of {most}{len(self.expected) + self.later}"

    @property
    def share(self) -> float:
        """The share of the expected time that is done."""
        whole = sum(self.expected.values()) + self.later_seconds + self.steps * STEP_SECONDS
        ended = sum(self.expected.get(key, 0) for key in self.done) + self.steps_done * STEP_SECONDS
        return min(ended / whole, 1) if whole else 1.0

    @property
    def seconds_left(self) -> float:
        """The time that is left: at first the expected time, then more and more by the speed so far.

        It rises only with new launches.
        """
        share, now = self.share, time.monotonic()
        if self.began is None and share:
            self.began = now
        elapsed = now - (now if self.began is None else self.began)
        found = (1 - share) * (self.wall_seconds * (1 - share) + elapsed)
        told, known = self._told
        if known == len(self.expected):
            found = min(found, told)
        self._told = found, len(self.expected)
        return found


def in_words(keys: Iterable[Key]) -> str:
    """The launches under way, for one line."""
    names = [f"{experiment} {placement}, launch {number}" for experiment, placement, number in keys]
    return names[0] if len(names) == 1 else f"{len(names)} launches" if names else ""
