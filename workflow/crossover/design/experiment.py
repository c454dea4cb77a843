"""The declaration of an experiment: what it is, and every setting with its meaning and defaults."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from crossover.design.advice import Setting as Recommendable
from crossover.design.axis import Axis
from crossover.design.cell import Metric
from crossover.design.kinds import Setting
from crossover.design.protocol import Keys
from crossover.design.settings import Settings

SELDOM = 100

ANY = "any"
"""In place of a key's values: every value of the key's type."""


def two(settings: Settings) -> int:
    """Two, whatever the settings of a launch."""
    return 2


def no(settings: Settings) -> bool:
    """No, whatever the settings of a launch."""
    return False


@dataclass(frozen=True)
class Rung:
    """An arm as a layer of the ladder, which has the round trips of all layers within a host."""

    place: int
    """Its place among all layers, rising; gaps leave room for others."""
    name: str
    arm: str
    where: Keys
    """Keys of its curve; if several have them, the first protocol in alphabetical order is used."""


@dataclass(frozen=True)
class Experiment:
    """What an experiment is, without its code, so that planning, page and terminal read it in milliseconds."""

    title: str
    """The title of its section."""
    about: str
    """What happens in it, in a sentence or two."""
    subject: str
    """What it compares, in the user's words; the beginning of its curves' names."""
    action: str
    """What a program does in it: words that "with" and an arm can follow, such as "send NumPy arrays"."""
    library: str
    """The library, or the kind of library, that it measures."""
    place: int
    """Its place among all experiments, in rising order; gaps leave room for others."""
    axis: Axis
    metrics: tuple[Metric, ...]
    keys: Mapping[str, Sequence[Any] | str]
    """The keys of its curves (docs/data.md), each with its values or ANY."""
    settings: Mapping[str, Setting]
    built: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The libraries that arms and ceilings need, by the names of their files in workflow/native or of builds of
    libzmq."""
    within_a_host: tuple[str, ...] = ()
    """Ceilings that cannot be measured between hosts."""
    farming: bool = False
    """Whether its arms are task farms (families/farming.py)."""
    hosts: Callable[[Settings], int] = two
    """The hosts of a launch in placement `nodes`, by the settings of the launch."""
    ranks: Callable[[Settings], int] = two
    """The ranks of a launch, except in placement `process`, which has one."""
    keeps_memory: Callable[[Settings], bool] = no
    """Whether the allocator of a launch's ranks keeps freed memory, instead of returning it as a plain program may."""
    thread_level: str = ""
    """The setting with the thread level that its ranks request from MPI; empty for mpi4py's default."""
    asked: int = SELDOM
    """Its place among the questions that most users have, in rising order; from SELDOM on, few users have it."""
    rungs: tuple[Rung, ...] = ()
    """Its layers of the ladder."""
    recommends: tuple[Recommendable, ...] = ()
    """The settings that it decides, in its own questions and in others with the same arms."""
    chosen_by: Mapping[str, str] | None = None
    """The metrics by which users choose an arm, each with the field's word for it, such as `streams`; empty if nobody
    can choose one. By default the leading metric, without a word."""
    diagnostic: tuple[str, ...] = ()
    """Arms that explain others, and that no user would choose."""

    @property
    def questions(self) -> Mapping[str, str]:
        """The metrics by which users choose an arm, each with its word, empty if there is only one."""
        return {self.leading: ""} if self.chosen_by is None else self.chosen_by

    @property
    def one_each(self) -> dict[str, str]:
        """Lists of which a launch has one value, with the name of that value. A process has one MPI thread level, and a
        farm keeps the engines that it was started with."""
        return {name: setting.one for name, setting in self.settings.items() if setting.one}

    def farms_of(self, settings: Settings) -> Settings:
        """The task farms that a launch with these settings needs, although none is an arm: {name: options}."""
        chosen = ((each.farms, str(settings.get(each.one))) for each in self.settings.values() if each.farms)
        return next((dict(farms[entry]) for farms, entry in chosen if entry in farms), {})

    @property
    def leading(self) -> str:
        """The metric that stands for it in summaries: that of its second sweep, otherwise its first."""
        refined = self.settings.get("refine_metric")
        return str(refined.default) if refined else self.metrics[0].name

    @property
    def schema(self) -> dict[str, Any]:
        """Its part of the configuration, as JSON Schema."""
        return {
            "title": self.title,
            "description": self.about,
            "type": "object",
            "additionalProperties": False,
            "properties": {name: setting.schema for name, setting in self.settings.items()},
        }

    def names(self, setting: str) -> tuple[str, ...]:
        """The names that a setting such as `arms` allows; none without it."""
        return self.settings[setting].names if setting in self.settings else ()
