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
    wall_seconds: float = 0.0
    """The expected time of all launches, which may be side by side."""
    _known: tuple[tuple[int, ...], float, float] = ((), 0.0, 0.0)
    """At the last end of a launch or step: how many had ended, the time on the clock, the time left."""

    @property
    def position(self) -> str:
        """How many launches are done, and of how many."""
        return f"{len(self.done)} of {len(self.expected)}"

    @property
    def share(self) -> float:
        """The share of the time that is done."""
        ended = sum(dict(self.done).values()) + self.steps_done * STEP_SECONDS
        whole = ended + self._launches_left + self._steps_left
        return ended / whole if whole else 1.0

    @property
    def seconds_left(self) -> float:
        """The time left, without waiting in a queue: estimated when a launch or step ends, then less by the clock."""
        ended, now = (len(self.expected), len(self.done), self.steps_done), time.monotonic()
        if ended != self._known[0]:
            whole = sum(self.expected.values())
            beside = self.wall_seconds / whole if whole else 1.0
            self._known = ended, now, self._launches_left * beside + self._steps_left
        _, since, left = self._known
        # At least half of it stays, because a launch under way may be slow, or waiting in a queue.
        return max(left - (now - since), left / 2) if self.done or self.steps_done else left

    @property
    def _launches_left(self) -> float:
        """The time of the remaining launches, one after another: what earlier ones of their kind took in this run.

        The first of a kind has its expected time, multiplied by how much longer than expected the others took.
        """
        # Copies, because another thread adds launches.
        done, expected = dict(self.done), dict(self.expected)
        took: dict[tuple[str, str], list[float]] = defaultdict(list)
        for key, seconds in done.items():
            took[key[:2]].append(seconds)
        planned = sum(expected.get(key, seconds) for key, seconds in done.items())
        pace = sum(done.values()) / planned if planned else 1.0
        left = [
            fmean(took[key[:2]]) if key[:2] in took else pace * seconds
            for key, seconds in expected.items()
            if key not in done
        ]
        return sum(left)

    @property
    def _steps_left(self) -> float:
        return max(self.steps - self.steps_done, 0) * STEP_SECONDS


def in_words(keys: Iterable[Key]) -> str:
    """The launches under way, for one line."""
    names = [f"{experiment} {placement}, launch {number}" for experiment, placement, number in keys]
    return names[0] if len(names) == 1 else f"{len(names)} launches" if names else ""
