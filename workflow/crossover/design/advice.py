"""A setting that a run can recommend: the rule that decides it, and the lines to paste.

A default is a library's behaviour if nothing is set. Tests check the defaults and every snippet against the libraries
themselves.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

from crossover.design.protocol import Keys

Value = str | int


@dataclass(frozen=True)
class Aim:
    """What a user wants of an experiment, and the metric that decides it."""

    name: str
    """In the user's words, to follow "for"."""
    metric: str
    where: Keys
    """The keys of the curves that decide."""
    condition: tuple[str, ...] = ()
    """The keys that name the condition; without any, the whole protocol does. Curves of several aims under the same
    condition are compared."""
    beside: tuple[str, ...] = ()
    """Metrics of the same curves that are shown beside a recommendation, but never decide it."""
    experiment: str = ""
    """The experiment that declares it; `experiments.aim` sets it."""


@dataclass(frozen=True)
class Onset:
    """A point of the axis from which one of `arms` should be used, and `other` below it."""

    arms: tuple[str, ...]
    """The alternatives; the one with the largest gain along the axis is recommended."""
    other: str
    """The arm without the setting."""
    shipped: str = ""
    """The arm that switches from `other` to the alternative at the library's own threshold, `shipped_from`."""
    shipped_from: float = inf


@dataclass(frozen=True)
class Choice:
    """One of several arms for the whole axis: the best of those that beat the default."""

    default: str
    values: Mapping[str, Value]
    """The value that selects each arm, including the default."""


@dataclass(frozen=True)
class Level:
    """A point of the axis from which the metric reaches `level`, for each arm separately. There is no default."""

    level: float
    arms: tuple[str, ...]


@dataclass(frozen=True)
class Setting:
    """One setting, in every condition under which it was measured.

    It stands in the declaration of the experiment of its first aim.
    """

    library: str
    name: str
    about: str
    """The meaning of its value, to follow the name."""
    rule: Onset | Choice | Level
    snippet: str | Mapping[Value, str]
    """The lines to paste, or one text per value or arm; `{value}` stands for the value in Python."""
    serves: tuple[str, ...] = ()
    """The names under which experiments declare its aims, the most important first; if one value serves several, it is
    the value for the first."""
    aims: tuple[Aim, ...] = ()
    """These aims; `analyse.advice.settings` sets them."""
    everywhere: Mapping[str, str] = field(default_factory=dict)
    """By arm, the lines for an arm that is to be used at every measured point."""
