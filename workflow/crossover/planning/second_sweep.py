"""The second sweep: more launches of an experiment, with points inside the crossovers' brackets of the first sweep.

The analysis writes the file REFINEMENT when the first sweep is done. By placement and number, the file holds the
settings that each launch of the second sweep replaces:

    {"node": {"10001": {"cells": {"{\\"work\\": \\"spin\\"}": [10000, 21544, 46416]}, "budget_seconds": 12.5}}}

`cells` are points of the axis, by `protocol.identity` of a curve. Without this file there is no second sweep (yet).
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated

from annotated_types import MaxLen

from crossover.design.settings import Settings, canonical
from crossover.errors import CrossoverError
from crossover.planning import plan
from crossover.planning.plan import SECOND_SWEEP, Config, LaunchName, heats
from crossover.records import json_text

REFINEMENT = "{results}/raw/{tier}/{experiment}/refinement.json"


SHARE = 0.5
"""The most time of a launch of the second sweep, as a part of its budget in the first."""


@dataclass(frozen=True)
class Narrowed:
    """The settings that a launch of the second sweep replaces."""

    cells: dict[str, Annotated[list[json_text.Whole], MaxLen(10_000)]]
    budget_seconds: json_text.Seconds


@dataclass(frozen=True)
class Refinement:
    """The content of REFINEMENT. If the second sweep could not be planned, it holds the reason instead."""

    process: dict[str, Narrowed] = field(default_factory=dict)
    node: dict[str, Narrowed] = field(default_factory=dict)
    nodes: dict[str, Narrowed] = field(default_factory=dict)


SECOND = re.compile(r"1\d{4}|20000")
"""The numbers of launches of the second sweep."""


class MissingLaunchError(CrossoverError):
    """A launch that the second sweep does not have."""


def overlap(experiment: str, settings: Settings) -> Iterator[str]:
    """The fault of an experiment whose first sweep would reach the launch numbers of the second."""
    most = SECOND_SWEEP // len(heats(experiment, settings))
    if settings["launches"] > most:
        yield (
            f"launches: {settings['launches']} is too many; this experiment can have {most} of each heat, because "
            f"launch numbers above {SECOND_SWEEP} belong to the second sweep; set {most} or less"
        )


def launches(config: Config, experiment: str) -> list[LaunchName]:
    """The launches of the second sweep; none if the first is not done."""
    heat = of_heats(config)
    return [
        {"experiment": experiment, "placement": placement, "launch": int(number)}
        for placement, narrowed in _refinement(config, experiment).items()
        for number in narrowed
        if plan.possible(
            config, experiment, heat({"experiment": experiment, "placement": placement, "launch": int(number)})
        )
    ]


def differs_only_in_cells(config: Config, launch: LaunchName, settings: Settings) -> bool:
    """Whether the `settings` of a launch of the second sweep are this configuration's, except for cells and budget."""
    own = {**of_heats(config)(launch), **{name: settings.get(name) for name in ("cells", "budget_seconds")}}
    return canonical(own) == canonical(settings)


OfLaunch = Callable[[LaunchName], Settings]
"""A function from a launch to settings."""


def settings_of(config: Config, launch: LaunchName) -> Settings:
    """The settings of one launch of either sweep. Raises MissingLaunchError if the second has no such one."""
    return of_launches(config)(launch)


def of_launches(config: Config) -> OfLaunch:
    """The function `settings_of` of a run with thousands of launches: those of one heat share their settings."""
    heat = of_heats(config)

    def of_launch(launch: LaunchName) -> Settings:
        number = launch["launch"]
        if number <= SECOND_SWEEP:
            return heat(launch)
        placement, experiment = launch["placement"], launch["experiment"]
        narrowed = _refinement(config, experiment).get(placement, {})
        if str(number) not in narrowed:
            # Otherwise the whole axis would be measured under a number of the second sweep.
            raise MissingLaunchError(f"{_file(config, experiment)}: has no launch {number} in placement {placement}")
        return heat(launch) | narrowed[str(number)]

    return of_launch


def turns(config: Config) -> Callable[[str, str], int]:
    """A function from an experiment and a placement to the number of its heats, which its launches have in turn."""

    @cache
    def count(experiment: str, placement: str) -> int:
        return len(heats(experiment, plan.in_placement(experiment, plan.settings_of(config, experiment), placement)))

    return count


def of_heats(config: Config) -> OfLaunch:
    """A function from a launch of either sweep to its settings in the first, which are those of its heat."""

    count = turns(config)

    @cache
    def of_heat(experiment: str, placement: str, heat: int) -> Settings:
        return plan.of_launch(experiment, plan.settings_of(config, experiment), placement, heat)

    def of_launch(launch: LaunchName) -> Settings:
        experiment, placement = launch["experiment"], launch["placement"]
        heat = (launch["launch"] - 1) % SECOND_SWEEP % count(experiment, placement) + 1
        return of_heat(experiment, placement, heat)

    return of_launch


def _refinement(config: Config, experiment: str) -> dict[str, dict[str, Settings]]:
    path = _file(config, experiment)
    try:
        stat = path.stat()
    except FileNotFoundError:
        return {}
    return _read(path, (stat.st_mtime_ns, stat.st_ino, stat.st_size))


@lru_cache(maxsize=16)
def _read(path: Path, version: tuple[int, ...]) -> dict[str, dict[str, Settings]]:
    """The content of a refinement; another `version` is a replaced file."""
    try:
        plan: Refinement = json_text.read(path.read_bytes(), Refinement)
    except ValueError as error:
        raise CrossoverError(f"{path}: cannot be read ({error}); delete it, and repeat the command") from None
    return {
        placement: {number: vars(narrowed) for number, narrowed in launches.items() if SECOND.fullmatch(number)}
        for placement, launches in vars(plan).items()
    }


def _file(config: Config, experiment: str) -> Path:
    return Path(REFINEMENT.format(results=config["results"], tier=config["tier"], experiment=experiment))
