"""The command that would decide an open answer: more launches of its experiment."""

import math

import pandas as pd

from crossover.planning.plan import SECOND_SWEEP
from crossover.query.answer import MOST, Answer
from crossover.report.base import numbers

REPLICATED = 3
"""The launches to plan for a point that a single launch measured."""


def remedy(answer: Answer, launches: pd.DataFrame) -> str | None:
    """The line that says how to decide an answer, from the table of launches; None for an answer that is decided."""
    if not answer.is_open or answer.point is None:
        return None
    own = launches[launches["experiment"] == answer.facts["experiment"]]
    planned = _planned(own, answer)
    behind = max(answer.point.launches, 1)
    if answer.point.low is None:
        return _line("to replicate it", answer, own, planned, max(REPLICATED, planned + 1))
    # Where launches failed, the same share of the new ones may fail.
    wanted = math.ceil(planned * (answer.needed or MOST * behind) / behind)
    if answer.needed:
        stays = f"to decide it, if the ratio stays {numbers.significant(answer.point.ratio)}"
        return _line(stays, answer, own, planned, wanted)
    purpose = f"to decide it takes more than {wanted} launches; to narrow the interval"
    return _line(purpose, answer, own, planned, wanted)


def _planned(own: pd.DataFrame, answer: Answer) -> int:
    """The number of launches that the configuration gave to each heat, as far as the table shows.

    Launches of one heat have equal settings.
    """
    first = own[(own["placement"] == answer.facts["placement"]) & (own["launch"] <= SECOND_SWEEP)]
    most = first.groupby("settings").size().max()
    return max(int(most) if len(first) else 0, 1)


def _line(purpose: str, answer: Answer, own: pd.DataFrame, planned: int, wanted: int) -> str:
    # Launches of all placements and heats are added.
    seconds = own["wall_seconds"].sum() / planned * (wanted - planned)
    return (
        f"{purpose}: crossover more {answer.facts['experiment']} --launches {wanted} "
        f"(about {numbers.duration(seconds)})"
    )
