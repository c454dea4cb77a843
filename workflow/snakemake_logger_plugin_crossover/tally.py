"""The launches of a run as they start and end, and the time that is left."""

import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import fmean

STEP_SECONDS = 2.0
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
    done: dict[Key, float] = field(default_factory=dict)
    """The time that each launch took."""
    steps_done: int = 0
    later: int = 0
    """The most launches that are not known yet."""
    later_seconds: float = 0.0
    """Their time."""
    wall_seconds: float = 0.0
    """The expected time of all launches, which may be side by side."""
    _known: tuple[tuple[int, ...], float, float] = ((), 0.0, 0.0)
    """What was done when something last ended, when that was, and the time that was left then."""

    @property
    def position(self) -> str:
        """How many launches are done, and of how many."""
        most = "at most " if self.later else ""
        return f"{len(self.done)} of {most}{len(self.expected) + self.later}"

    @property
    def share(self) -> float:
        """The share of the time that is done."""
        ended = sum(self.done.values()) + self.steps_done * STEP_SECONDS
        whole = ended + self._launches_left + self._steps_left
        return ended / whole if whole else 1.0

    @property
    def seconds_left(self) -> float:
        """The time that is left without that in a queue: until something ends, less by the time since the last end."""
        ended, now = (len(self.expected), len(self.done), self.steps_done), time.monotonic()
        if ended != self._known[0]:
            whole = sum(self.expected.values()) + self.later_seconds
            beside = self.wall_seconds / whole if whole else 1.0
            self._known = ended, now, self._launches_left * beside + self._steps_left
        _, since, left = self._known
        # What is under way may wait.
        return max(left - (now - since), left / 2) if self.done or self.steps_done else left

    @property
    def _launches_left(self) -> float:
        """The time of the launches that are left, one after another: what earlier ones of their kind took in this run.

        For the first of a kind it is the expected time, by the pace of those that are done.
        """
        took: dict[tuple[str, str], list[float]] = defaultdict(list)
        for key, seconds in self.done.items():
            took[key[:2]].append(seconds)
        planned = sum(self.expected.get(key, seconds) for key, seconds in self.done.items())
        pace = sum(self.done.values()) / planned if planned else 1.0
        left = [
            fmean(took[key[:2]]) if key[:2] in took else pace * seconds
            for key, seconds in self.expected.items()
            if key not in self.done
        ]
        return sum(left) + pace * self.later_seconds

    @property
    def _steps_left(self) -> float:
        return max(self.steps - self.steps_done, 0) * STEP_SECONDS


def in_words(keys: Iterable[Key]) -> str:
    """The launches under way, for one line."""
    names = [f"{experiment} {placement}, launch {number}" for experiment, placement, number in keys]
    return names[0] if len(names) == 1 else f"{len(names)} launches" if names else ""
