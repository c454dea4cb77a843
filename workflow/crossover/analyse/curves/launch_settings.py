"""What the launches were asked for, as they say themselves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from crossover.planning.plan import read_settings


@dataclass(frozen=True)
class Asked:
    """The settings of one placement's launches that say how precise they were to be."""

    half_width: float
    """Half the width of an interval, in logarithms."""
    fewest_rounds: int
    most_rounds: int


def asked(launches: Iterable[dict[str, Any]]) -> dict[str, Asked]:
    """By placement, from rows of record.LAUNCHES; a placement whose launches do not say is left out."""
    found = {}
    for row in launches:
        settings = read_settings(row["settings"])
        if "target_width" in settings:
            rounds = settings["rounds"]
            width = float(np.log1p(settings["target_width"]))
            found[row["placement"]] = Asked(width, rounds["at_least"], rounds["at_most"])
    return found
