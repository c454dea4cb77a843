"""The declaration of a task farm: its options and entrants, readable without the farm's packages."""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from crossover.design.settings import FarmEntry, described
from crossover.errors import CrossoverError
from crossover.paths import PACKAGE


@dataclass(frozen=True)
class NoOptions:
    """The options of a farm that has none."""


@dataclass(frozen=True)
class TaskFarm:
    """What a task farm is."""

    place: int
    """Its place among all farms, in rising order; gaps leave room for others."""
    arms: Mapping[str, FarmEntry] = field(default_factory=dict)
    """The entrants that are always available, by name, without their `farm`."""
    options: type = NoOptions
    """A frozen dataclass. Each field is a `bool`, `float`, `int`, `str` or `Literal`, with its meaning:
    `Annotated[int, "the most tasks that an engine gets"]`."""
    packages: tuple[str, ...] = ()
    """The packages whose versions can change its results."""
    extra: str = ""
    """What `make env EXTRA=...` installs it, if the set-up does not."""
    one_host: bool | str = False
    """Whether its engines are processes or threads that the client starts, so that no rank is one; or the option with
    which its engines must be on the client's host."""
    in_client: bool = False
    """Whether its tasks run in the client's process."""
    snippet: str = ""
    """The lines that use it, to paste: from `function`, `items` and the number of `workers` to `results`."""
    is_program: bool = False
    """Whether these lines are also a whole program: they start all that they need, and nothing listens on a network."""
    snippet_arms: tuple[str, ...] = ()
    """The entrants that these use; by default the first."""
    authenticates: bool | str = True
    """Whether it obeys nobody but its launch, or the option that says so."""

    def require_sane(self) -> None:
        """Raise ValueError for an option of an arm, or one that `one_host` or another field names, that it does not
        have."""
        stated = [name for entrant in self.arms.values() for name in entrant if name != "alone"]
        stated += [name for name in (self.one_host, self.authenticates) if isinstance(name, str)]
        if unknown := [name for name in stated if name not in self.meanings]:
            raise ValueError(f"it has no option {unknown[0]!r}; available: {', '.join(self.meanings) or 'none'}")

    @property
    def arms_of_snippet(self) -> tuple[str, ...]:
        """The entrants that its snippet uses."""
        return self.snippet_arms or tuple(self.arms)[:1]

    @property
    def meanings(self) -> dict[str, str]:
        """The meaning of each option."""
        return {name: own.about for name, own in described(self.options).items()}

    @property
    def required(self) -> list[str]:
        """The options without a default."""
        return [each.name for each in fields(self.options) if each.default is MISSING]

    def made(self, entrant: FarmEntry) -> Any:
        """The options of an entrant, as an instance of `options`."""
        return self.options(**{name: entrant[name] for name in self.meanings if name in entrant})

    def crosses_hosts(self, entrant: FarmEntry) -> bool:
        """Whether the engines of an entrant can be on other hosts."""
        return not self._is(self.one_host, entrant)

    def obeys_its_launch_alone(self, entrant: FarmEntry) -> bool:
        """Whether an entrant's farm authenticates."""
        return self._is(self.authenticates, entrant)

    def _is(self, stated: bool | str, entrant: FarmEntry) -> bool:
        if not isinstance(stated, str):
            return stated
        default = next(each.default for each in fields(self.options) if each.name == stated)
        return bool(entrant.get(stated, default))


# ---- all farms


FOLDER = PACKAGE / "farms"

UNKNOWN = TaskFarm(place=0)


def names() -> list[str]:
    """The name of every farm, in alphabetical order."""
    return sorted(found.name for found in iter_modules(import_module("crossover.farms").__path__))


@cache
def declared() -> dict[str, TaskFarm]:
    """The declaration of every farm, by its name, in the order of their places.

    Raises CrossoverError for a mistake in one, with its file.
    """
    every: dict[str, TaskFarm] = {}
    farm_of: dict[str, str] = {}
    for name in names():
        file = FOLDER / name / "__init__.py"
        try:
            every[name] = import_module(f"crossover.farms.{name}").FARM
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


def runs_in_client(entrant: FarmEntry) -> bool:
    """Whether an entrant's tasks run in the client's process."""
    return _of(entrant).in_client


def authenticates(entrant: FarmEntry) -> bool:
    """Whether an entrant's farm obeys nobody but its launch."""
    return _of(entrant).obeys_its_launch_alone(entrant)


def options(entrant: Mapping[str, Any]) -> Any:
    """The options of an entrant, as its farm declares them."""
    return _of(entrant).made(entrant)


def _of(entrant: FarmEntry) -> TaskFarm:
    # The check of the configuration reports unknown farms.
    return declared().get(entrant["farm"], UNKNOWN)
