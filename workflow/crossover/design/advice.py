"""A setting that a run can recommend: its arms, and the lines to paste.

A default is a library's behaviour if nothing is set. Tests check the defaults and every snippet against the libraries
themselves.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from crossover.design.protocol import Keys

Value = str | int


@dataclass(frozen=True)
class Setting:
    """One setting. It is decided wherever its arms can be chosen, in its own experiment and in others."""

    library: str
    name: str
    about: str
    """The meaning of its value, to follow the name."""
    default: str
    """The arm without the setting."""
    values: Mapping[str, Value]
    """The other arms, each with the value that selects it at every point."""
    snippet: str | Mapping[str, str]
    """The lines to paste, one text for all arms or one per arm; `{value}` stands for the value in Python."""
    beyond: Mapping[str, str] = field(default_factory=dict)
    """The same for arms that programs can use from a point of the axis on, and the default below it; `{value}` stands
    for the point."""
    where: Keys = field(default_factory=dict)
    """The keys of the curves that decide it, because its lines are right for these alone; empty if for all."""
    program_wide: bool = False
    """Whether a program has one value for all that it does, so that one is sought for all questions."""
    experiment: str = ""
    """The experiment that declares it; `analyse.tables.recommend` sets it."""

    @property
    def arms(self) -> list[str]:
        """The arms that it names, the default first."""
        return list(dict.fromkeys([self.default, *self.values, *self.beyond]))
