"""The target precision of launches, from their recorded settings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from crossover.planning.plan import read_settings


@dataclass(frozen=True)
class Target:
    """The target precision of the launches in one placement."""

    half_width: float
    """Half the width of an interval, in logarithms."""
    fewest_rounds: int
    most_rounds: int


def targets(launches: Iterable[dict[str, Any]]) -> dict[str, Target]:
    """The target of each placement, from rows of record.LAUNCHES; placements without a recorded target are left out."""
    found = {}
    for row in launches:
        settings = read_settings(row["settings"])
        if "target_width" in settings:
            rounds = settings["rounds"]
            width = float(np.log1p(settings["target_width"]))
            found[row["placement"]] = Target(width, rounds["at_least"], rounds["at_most"])
    return found
