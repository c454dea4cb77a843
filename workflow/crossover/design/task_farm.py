"""The declaration of a task farm: its options and entrants, readable without the farm's packages."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

Entrant = Mapping[str, Any]
"""A configured entrant: `farm`, `alone` if it shares a launch with no other rival, and the farm's options."""

TYPES: dict[type, dict[str, Any]] = {
    bool: {"type": "boolean"},
    float: {"type": "number"},
    int: {"type": "integer", "minimum": 0},
    str: {"type": "string"},
}
"""The JSON Schema of an option, by its type."""


@dataclass(frozen=True)
class NoOptions:
    """The options of a farm that has none."""


@dataclass(frozen=True)
class TaskFarm:
    """What a task farm is."""

    place: int
    """Its place among all farms, in rising order; gaps leave room for others."""
    entrants: Mapping[str, Entrant] = field(default_factory=dict)
    """The entrants that are always available, by name, without their `farm`."""
    options: type = NoOptions
    """A frozen dataclass. Each field is a `bool`, `float`, `int`, `str` or `Literal`, with its meaning:
    `Annotated[int, "the most tasks that an engine gets"]`."""
    packages: tuple[str, ...] = ()
    """The packages whose versions can change its results."""
    extra: str = ""
    """What `make env EXTRA=...` installs it, if the set-up does not."""
    one_host: bool | str = False
    """Whether its engines must be on the client's host, or the option that says so."""
    snippet: str = ""
    """The lines to paste, if it can be recommended: as its first entrant."""
    authenticates: bool | str = True
    """Whether it obeys nobody but its launch, or the option that says so."""

    @property
    def meanings(self) -> dict[str, str]:
        """The meaning of each option."""
        return {name: next(iter(get_args(hint)[1:]), "") for name, hint in self._hints().items()}

    @property
    def allowed(self) -> dict[str, dict[str, Any]]:
        """The allowed values of each option, as JSON Schema."""
        return {name: _allowed(get_args(hint)[0]) for name, hint in self._hints().items()}

    @property
    def required(self) -> list[str]:
        """The options without a default."""
        return [each.name for each in fields(self.options) if each.default is MISSING]

    def made(self, entrant: Entrant) -> Any:
        """The options of an entrant, as an instance of `options`."""
        return self.options(**{name: entrant[name] for name in self._hints() if name in entrant})

    def crosses_hosts(self, entrant: Entrant) -> bool:
        """Whether the engines of an entrant can be on other hosts."""
        return not self._is(self.one_host, entrant)

    def obeys_its_launch_alone(self, entrant: Entrant) -> bool:
        """Whether an entrant's farm authenticates."""
        return self._is(self.authenticates, entrant)

    def _is(self, stated: bool | str, entrant: Entrant) -> bool:
        if not isinstance(stated, str):
            return stated
        default = next(each.default for each in fields(self.options) if each.name == stated)
        return bool(entrant.get(stated, default))

    def _hints(self) -> dict[str, Any]:
        hints = get_type_hints(self.options, include_extras=True)
        return {name: hint if get_origin(hint) is Annotated else Annotated[hint, ""] for name, hint in hints.items()}


def _allowed(kind: Any) -> dict[str, Any]:
    return {"enum": [*get_args(kind)]} if get_origin(kind) is Literal else TYPES.get(kind, {})
