"""The launches of a run as they start and end, and the time that is left."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

STEP_SECONDS = 1.0
"""The expected time of a step that is no launch."""

Key = tuple[str, str, int]
"""Experiment, placement and number of a launch."""


@dataclass
class Running:
    """A launch under way."""

    log: Path
    began: float = field(default_factory=time.monotonic)

    def cells(self) -> str:
        """The cells that it has finished, such as `cell 3 of 14`, from its log; empty before the first."""
        try:
            with self.log.open("rb") as lines:
                lines.seek(0, 2)
                lines.seek(max(0, lines.tell() - 4096))
                last = lines.read().decode(errors="replace").rpartition(": cell ")[2]
        except OSError:
            return ""
        number, of, rest = last.partition(" of ")
        return f"cell {number} of {rest.split()[0]}" if of and number.isdigit() and rest else ""


@dataclass
class Tally:
    """What a run has to do and has done; times in seconds."""

    expected: dict[Key, float] = field(default_factory=dict)
    steps: int = 0
    """Steps that are no launches."""
    running: dict[Key, Running] = field(default_factory=dict)
    done: set[Key] = field(default_factory=set)
    steps_done: int = 0
    later_seconds: float = 0.0
    """The most time of launches that are not known yet."""
    began: float = field(default_factory=time.monotonic)

    def count(self, experiment: str, placement: str) -> int:
        """The launches of an experiment in a placement, in this run."""
        return sum(key[:2] == (experiment, placement) for key in self.expected)

    @property
    def share(self) -> float:
        """The share of the expected time that is done, with the launches under way."""
        whole = sum(self.expected.values()) + self.later_seconds + self.steps * STEP_SECONDS
        now = time.monotonic()
        under_way = (min(now - each.began, self.expected.get(key, 0)) for key, each in self.running.items())
        ended = sum(self.expected.get(key, 0) for key in self.done) + self.steps_done * STEP_SECONDS
        return min((ended + sum(under_way)) / whole, 1) if whole else 1.0

    @property
    def seconds_left(self) -> float:
        """The time that is left, at the speed so far; at first, the expected time."""
        share, elapsed = self.share, time.monotonic() - self.began
        if share < 0.05:
            return (sum(self.expected.values()) + self.later_seconds) * (1 - share)
        return elapsed * (1 - share) / share


def in_words(keys: Iterable[Key]) -> str:
    """The launches under way, for one line."""
    names = [f"{experiment} {placement}, launch {number}" for experiment, placement, number in keys]
    return names[0] if len(names) == 1 else f"{len(names)} launches" if names else ""
