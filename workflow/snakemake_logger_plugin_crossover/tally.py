"""The launches of a run as they start and end, and the time that is left."""

import math
import os
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

STEP_SECONDS = 1.0
"""The expected time of a step that is no launch."""

Key = tuple[str, str, int]
"""Experiment, placement and number of a launch."""


LINE = re.compile(r": cell (\d+ of \d+) .*?, (\d+) s elapsed")
"""What a launch says after each cell."""

LOOK_SECONDS = 5.0

CLOCKS_SECONDS = 5.0
"""By which the clock of a file system may differ."""


@dataclass
class Running:
    """A launch under way, or in the queue."""

    log: Path
    since: float = field(default_factory=time.time)
    """When its job was submitted, in seconds since 1970. A log that is older belongs to an earlier run."""
    _seen: tuple[float, re.Match[str] | None] = (-math.inf, None)

    def cells(self) -> str:
        """The cells that it has finished, such as `cell 3 of 14`, from its log; empty before the first."""
        found = self._last()
        return f"cell {found[1]}" if found else ""

    def seconds(self) -> float:
        """The time since its start, when it last finished a cell; a launch in the queue has none."""
        found = self._last()
        return float(found[2]) if found else 0.0

    def _last(self) -> re.Match[str] | None:
        """The last line about a cell. A run has hundreds of launches in the queue, so a log is read now and then."""
        looked, found = self._seen
        if time.monotonic() - looked >= LOOK_SECONDS:
            found = self._read()
            self._seen = time.monotonic(), found
        return found

    def _read(self) -> re.Match[str] | None:
        try:
            with self.log.open("rb") as lines:
                if os.fstat(lines.fileno()).st_mtime < self.since - CLOCKS_SECONDS:
                    return None
                lines.seek(0, 2)
                lines.seek(max(0, lines.tell() - 4096))
                found = list(LINE.finditer(lines.read().decode(errors="replace")))
                return found[-1] if found else None
        except OSError:
            return None


@dataclass
class Tally:
    """What a run has to do and has done; times in seconds."""

    expected: dict[Key, float] = field(default_factory=dict)
    steps: int = 0
    """Steps that are no launches."""
    running: dict[Key, Running] = field(default_factory=dict)
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

    def count(self, experiment: str, placement: str) -> int:
        """The launches of an experiment in a placement, in this run."""
        return sum(key[:2] == (experiment, placement) for key in self.expected)

    @property
    def position(self) -> str:
        """How many launches are done, and of how many."""
        most = "at most " if self.later else ""
        return f"{len(self.done)} of {most}{len(self.expected) + self.later}"

    @property
    def share(self) -> float:
        """The share of the expected time that is done, with the launches under way."""
        whole = sum(self.expected.values()) + self.later_seconds + self.steps * STEP_SECONDS
        under_way = sum(min(each.seconds(), self.expected.get(key, 0)) for key, each in self.running.items())
        ended = sum(self.expected.get(key, 0) for key in self.done) + self.steps_done * STEP_SECONDS
        return min((ended + under_way) / whole, 1) if whole else 1.0

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
