"""The refinement: more launches of an experiment, with points inside the crossovers' brackets of the first launches.

The analysis writes the file REFINEMENT when the first launches are done. By placement and number, the file holds the
settings that each launch of the refinement replaces:

    {"node": {"10001": {"cells": {"{\\"work\\": \\"spin\\"}": [10000, 21544, 46416]}, "budget_seconds": 12.5}}}

`cells` are points of the axis, by `protocol.identity` of a curve. Without this file there is no refinement (yet).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from annotated_types import MaxLen

from crossover.design.config import Config
from crossover.design.launch import MOST_LAUNCHES, Launch
from crossover.design.settings import Settings, canonical
from crossover.errors import CrossoverError
from crossover.planning import plan
from crossover.records import atomic, json_text

REFINEMENT = "{results}/raw/{tier}/{experiment}/refinement.json"


SHARE = 0.5
"""The most time of a launch of the refinement, as a part of its budget in the first."""


@dataclass(frozen=True)
class Narrowed:
    """The settings that a launch of the refinement replaces."""

    cells: dict[str, Annotated[list[json_text.Whole], MaxLen(10_000)]]
    budget_seconds: json_text.Seconds


@dataclass(frozen=True)
class Refinement:
    """The content of REFINEMENT. If the refinement could not be planned, it holds the reason instead."""

    process: dict[str, Narrowed] = field(default_factory=dict)
    node: dict[str, Narrowed] = field(default_factory=dict)
    nodes: dict[str, Narrowed] = field(default_factory=dict)


SECOND = re.compile(r"1\d{4}|20000")
"""The numbers of launches of the refinement."""


class MissingLaunchError(CrossoverError):
    """A launch that the refinement does not have."""


def overlap(settings: Settings) -> Iterator[str]:
    """The fault of an experiment whose first launches would reach the numbers of the refinement."""
    most = MOST_LAUNCHES // len(settings.turns())
    if settings.launches > most:
        yield (
            f"launches: {settings.launches} is too many; this experiment can have {most} of each group, because "
            f"launch numbers above {MOST_LAUNCHES} belong to the refinement; set {most} or less"
        )


def launches(config: Config, experiment: str) -> list[Launch]:
    """The launches of the refinement; none before the first launches are done."""
    found = []
    for placement, narrowed in _refinement(config, experiment).items():
        every = plan.turns(config, experiment, placement) if narrowed else []
        for name, changes in narrowed.items():
            before, turn = divmod((int(name) - 1) % MOST_LAUNCHES, len(every))
            if plan.possible(config, every[turn]):
                found.append(Launch(experiment, placement, int(name), replace(every[turn], **changes), before))
    return found


def launch(config: Config, experiment: str, placement: str, number: int) -> Launch:
    """One launch. Raises MissingLaunchError for one of the refinement that its plan does not have."""
    whole = plan.launch(config, experiment, placement, number)
    if not whole.second:
        return whole
    changes = _refinement(config, experiment).get(placement, {}).get(str(number))
    if changes is None:
        # Otherwise the whole axis would be measured under a number of the refinement.
        raise MissingLaunchError(f"{_file(config, experiment)}: has no launch {number} in placement {placement}")
    return replace(whole, settings=replace(whole.settings, **changes))


def differs_only_in_cells(planned: Launch, stored: Mapping[str, Any]) -> bool:
    """Whether the `stored` settings of a launch of the refinement are the planned ones, except for its points."""
    own = {**planned.settings.stored, **{name: stored.get(name) for name in ("cells", "budget_seconds")}}
    return canonical(own) == canonical(stored)


def _refinement(config: Config, experiment: str) -> dict[str, dict[str, dict[str, Any]]]:
    path = _file(config, experiment)
    try:
        stat = path.stat()
    except FileNotFoundError:
        return {}
    return _read(path, (stat.st_mtime_ns, stat.st_ino, stat.st_size))


@lru_cache(maxsize=16)
def _read(path: Path, version: tuple[int, ...]) -> dict[str, dict[str, dict[str, Any]]]:
    """The content of a refinement; another `version` is a replaced file."""
    try:
        plan: Refinement = json_text.read(atomic.regular(path).read_bytes(), Refinement)
    except (OSError, ValueError) as error:
        raise CrossoverError(f"{path}: cannot be read ({error}); delete it, and repeat the command") from None
    return {
        placement: {number: vars(narrowed) for number, narrowed in launches.items() if SECOND.fullmatch(number)}
        for placement, launches in vars(plan).items()
    }


def _file(config: Config, experiment: str) -> Path:
    return Path(REFINEMENT.format(results=config.results, tier=config.tier, experiment=experiment))
