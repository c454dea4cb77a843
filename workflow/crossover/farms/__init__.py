"""The task farms, a folder each: what it is (`__init__.py`), how it runs tasks (`farm.py`).

No module lists them: a folder here is a farm. Only `farm.py` needs the farm's packages.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from crossover.design.settings import FarmEntry
from crossover.design.task_farm import TaskFarm
from crossover.errors import CrossoverError

UNKNOWN = TaskFarm(place=0)


def names() -> list[str]:
    """The name of every farm, in alphabetical order."""
    return sorted(found.name for found in iter_modules(__path__))


@cache
def declared() -> dict[str, TaskFarm]:
    """The declaration of every farm, by its name, in the order of their places.

    Raises CrossoverError for a mistake in one, with its file.
    """
    every: dict[str, TaskFarm] = {}
    farm_of: dict[str, str] = {}
    for name in names():
        file = Path(__path__[0], name, "__init__.py")
        try:
            every[name] = import_module(f"{__name__}.{name}").FARM
            every[name].require_sane()
        except Exception as mistake:
            raise CrossoverError(f"{file}: {mistake}") from mistake
        for arm in every[name].arms:
            if arm in farm_of:
                raise CrossoverError(f"{file}: the arm {arm!r} belongs to the farm {farm_of[arm]}; choose another name")
            farm_of[arm] = name
    return dict(sorted(every.items(), key=lambda entry: entry[1].place))


def arms() -> dict[str, dict[str, Any]]:
    """The entrants that are always available, by name."""
    return {name: {"farm": farm, **options} for farm, each in declared().items() for name, options in each.arms.items()}


def entrants(own: Mapping[str, FarmEntry]) -> dict[str, FarmEntry]:
    """The entrants by name: those that are always available, and `own`; each knows whether it has `children`."""
    every = {**arms(), **own}
    return {
        name: {**entrant, "children": True} if _of(entrant).one_host is True else entrant
        for name, entrant in every.items()
    }


def snippet(arm: str) -> str:
    """The lines that use an entrant, to paste; empty for one that others stand for."""
    return next((farm.snippet for farm in declared().values() if arm in farm.arms_of_snippet), "")


def programs(every: Iterable[str]) -> dict[str, str]:
    """The lines of those of these entrants that are also whole programs, the first with the same lines."""
    known, lines = arms(), dict[str, str]()
    for arm in every:
        if arm in known and _of(known[arm]).is_program:
            lines.setdefault(snippet(arm), arm)
    return {arm: text for text, arm in lines.items() if text}


def crosses_hosts(entrant: FarmEntry) -> bool:
    """Whether an entrant's engines can be on other hosts than the client."""
    return _of(entrant).crosses_hosts(entrant)


def authenticates(entrant: FarmEntry) -> bool:
    """Whether an entrant's farm obeys nobody but its launch."""
    return _of(entrant).obeys_its_launch_alone(entrant)


def options(entrant: Mapping[str, Any]) -> Any:
    """The options of an entrant, as its farm declares them."""
    return _of(entrant).made(entrant)


def _of(entrant: FarmEntry) -> TaskFarm:
    # The check of the configuration reports unknown farms.
    return declared().get(entrant["farm"], UNKNOWN)
