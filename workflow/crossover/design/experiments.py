"""The declaration of an experiment: what it is, and its settings at each tier."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from traceback import extract_tb
from typing import Any

from crossover.design.advice import Setting as Recommendable
from crossover.design.cell import Axis, Metric
from crossover.design.config import OfUser
from crossover.design.farming import Farming
from crossover.design.launch import Launch
from crossover.design.protocol import KEYS, Keys
from crossover.design.settings import TIERS, Settings, Tiers, described
from crossover.errors import CrossoverError
from crossover.paths import PACKAGE

ANY = "any"
"""In place of a key's values: every value of the key's type."""


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
    tiers: Tiers
    """Its settings at each tier, unless the configuration says otherwise."""
    leading_metric: str = ""
    """The metric that stands for it in summaries; by default the first."""
    synonyms: Mapping[str, str] = field(default_factory=dict)
    """Synonyms, each with the name or the words that it means; empty for what no experiment measures."""
    built: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The libraries that arms and ceilings need, by the names of their files in workflow/native or of builds of
    libzmq."""
    packages: tuple[str, ...] = ()
    """The packages whose versions can change its results, besides those of every launch."""
    default: str = ""
    """The arm that a program has if nobody chose; gains are over it."""
    rungs: tuple[Rung, ...] = ()
    """Its layers of the ladder."""
    recommends: tuple[Recommendable, ...] = ()
    """The settings that it decides, in its own questions and in others with the same arms."""
    snippets: Mapping[str, str] = field(default_factory=dict)
    """The lines that use an arm, to paste; those of task farms are in their own declarations."""
    chosen_by: Mapping[str, str] | None = None
    """The metrics by which users choose an arm, each with the field's word for it, such as `streams`; empty if nobody
    can choose one. By default the leading metric, without a word."""
    diagnostic: tuple[str, ...] = ()
    """Arms that explain others, and that no user would choose."""

    def require_sane(self) -> None:
        """Raise ValueError for a key, a metric, an arm or another name that does not exist."""
        every = {tier: self.tiers.at(tier) for tier in TIERS}
        arms = list(dict.fromkeys(arm for own in every.values() for arm in own.arms))
        for setting in self.recommends:
            _require_known(f"arm of the setting {setting.name!r}", setting.arms, arms)
        _require_known("default arm", [self.default] if self.default else [], arms)
        for metric in self.metrics:
            _require_known(f"direction of the metric {metric.name!r}", [metric.better], ["higher", "lower"])
        for tier, own in every.items():
            for name, mark in described(type(own)).items():
                value = getattr(own, name)
                if mark.allowed and mark.allowed.names:
                    stated = [value] if isinstance(value, str) else value
                    _require_known(f"{tier}: {name}", stated, mark.allowed.names)
            known = {"key": KEYS, "metric": [metric.name for metric in self.metrics], "arm": own.arms}
            named = {"key": self.keys, "metric": [*(self.chosen_by or {}), self.leading], "arm": [own.reference]}
            for what, names in named.items():
                _require_known(f"{tier}: {what}", names, known[what])

    @property
    def questions(self) -> Mapping[str, str]:
        """The metrics by which users choose an arm, each with its word, empty if there is only one."""
        return {self.leading: ""} if self.chosen_by is None else self.chosen_by

    @property
    def settings(self) -> type[Settings]:
        return type(self.tiers.quick)

    @property
    def farming(self) -> bool:
        """Whether its arms are task farms."""
        return issubclass(self.settings, Farming)

    @property
    def of_user(self) -> bool:
        """Whether it measures a user's file, and so belongs to a run only if that names one."""
        return issubclass(self.settings, OfUser)

    @property
    def leading(self) -> str:
        """The metric that stands for it in summaries."""
        return self.leading_metric or self.metrics[0].name

    def names(self, setting: str) -> tuple[str, ...]:
        """The names that a setting such as `arms` allows; none without it, and for task farms."""
        own = described(self.settings).get(setting)
        allowed = own.allowed if own else None
        if allowed is None:
            return ()
        return self.names(allowed.of) if allowed.of else tuple(allowed.names)


def _require_known(what: str, stated: Iterable[str], known: Collection[str]) -> None:
    if unknown := [name for name in stated if name not in known]:
        raise ValueError(f"{what}: {unknown[0]!r} does not exist; available: {', '.join(known)}")


# ---- all experiments


FOLDER = PACKAGE / "experiments"


def names() -> list[str]:
    """The name of every experiment, in alphabetical order."""
    return sorted(found.name for found in iter_modules(import_module("crossover.experiments").__path__))


@cache
def declared() -> dict[str, Experiment]:
    """The declaration of every experiment, by its name, in the order of their places."""
    every = {name: of(name) for name in names()}
    return dict(sorted(every.items(), key=lambda entry: entry[1].place))


@cache
def of(name: str) -> Experiment:
    """The declaration of one experiment, without loading others.

    Raises CrossoverError if there is none, and for a mistake in it, with its file and line.
    """
    if name not in names():
        raise CrossoverError(f"unknown experiment {name!r}; available: {', '.join(declared())}")
    file = FOLDER / name / "__init__.py"
    try:
        found: Experiment = import_module(f"crossover.experiments.{name}").EXPERIMENT
        found.require_sane()
    except Exception as mistake:
        lines = [str(frame.lineno) for frame in extract_tb(mistake.__traceback__) if Path(frame.filename) == file]
        raise CrossoverError(f"{':'.join([str(file), *lines[-1:]])}: {mistake}") from mistake
    return found


def read_launch(file: Path) -> Launch:
    """The launch of a file with `Launch.stored`. Raises CrossoverError for a file of another kind."""
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        experiment, placement, number = told["experiment"], told["placement"], told["launch"]
        settings = of(experiment).settings.read(told["settings"])
        if not (isinstance(number, int) and settings.placement == placement):
            raise TypeError(file)
        return Launch(experiment, placement, number, settings)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CrossoverError(f"{file}: describes no launch; delete it, and repeat the command") from error


def prose(name: str, file: str) -> str:
    """The text of a file such as page.md in an experiment's folder; empty without it."""
    path = FOLDER / name / file
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def leads() -> dict[str, str]:
    """The leading metric of each experiment, which stands for it in summaries."""
    return {name: each.leading for name, each in declared().items()}


def subject(name: str) -> str:
    """What an experiment compares, in the user's words; its name in words if it is not one of ours."""
    return declared()[name].subject if name in declared() else name.replace("_", " ")
