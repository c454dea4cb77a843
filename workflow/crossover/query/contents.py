"""What can be asked: the experiments of a run, and the axis, metrics, arms and keys of one experiment."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crossover.design.protocol import KEYS
from crossover.experiments import subject
from crossover.query import question
from crossover.report.text import numbers
from crossover.report.text.tables import Panel, plain_first, telling_keys

COMMAND = "crossover ask"


@dataclass(frozen=True)
class Contents:
    """The possible questions to some curves of one metric of an experiment."""

    panels: Sequence[Panel]
    every: Sequence[Panel]
    """These and all others of the metric."""
    metrics: Sequence[str]
    """Every metric of the experiment, the one of a question without `--metric` first."""

    @property
    def row(self) -> dict[str, Any]:
        """All facts, with values instead of words; `options` has each key's values, None where a curve lacks it."""
        first = self.panels[0]
        ends = self._ends
        return {
            "experiment": first.experiment,
            "title": subject(first.experiment),
            "axis": first.facts.axis,
            "axis_unit": first.facts.axis_unit,
            "x_from": ends[0],
            "x_to": ends[1],
            "metrics": list(self.metrics),
            "reference": first.reference or None,
            "arms": self._arms,
            "options": self._options,
            "example": self.example or None,
        }

    @property
    def lines(self) -> list[str]:
        """The facts in words, each option as it is typed, and a command that answers."""
        first = self.panels[0]
        several = {key: values for key, values in self._options.items() if len(values) > 1}
        single = {key: values[0] for key, values in self._options.items() if len(values) == 1}
        return [
            f"{first.experiment}: {subject(first.experiment)}",
            f"    --at POINT: {self.axis}",
            f"    --metric {_choice(self.metrics)}",
            f"    --arm {_choice(self._arms)}{self._reference}",
            *(f"    {question.flag(key)} {_choice(map(question.word, values))}" for key, values in several.items()),
            *self._shared(single),
            *filter(None, [self.example]),
        ]

    @property
    def axis(self) -> str:
        """The axis with its measured range, in words."""
        facts = self.panels[0].facts
        low, high = (numbers.quantity(end, facts.axis_unit) for end in self._ends)
        return f"{facts.axis}, {low} to {high}"

    @property
    def _reference(self) -> str:
        reference = self.panels[0].reference
        return f" (reference {question.quoted(reference)})" if reference else ""

    def _shared(self, keys: Mapping[str, Any]) -> list[str]:
        words = " ".join(question.option(key, value) for key, value in keys.items())
        return [f"    the same for all: {words}"] if words else []

    @property
    def example(self) -> str:
        """A command that answers, in the middle of the axis of a plain curve; empty if no arm has a ratio."""
        compared = plain_first(panel for panel in self.panels if panel.compared)
        if not compared:
            return ""
        panel = compared[0]
        places = [row.x for row in panel.ratios_of(panel.compared[0])]
        at = question.written(places[len(places) // 2], panel.facts.axis_unit)
        metric = [] if panel.metric == self.metrics[0] else ["--metric", shlex.quote(panel.metric)]
        return " ".join([COMMAND, panel.experiment, "--at", at, *metric, *self._choose(panel)])

    def _choose(self, panel: Panel) -> list[str]:
        """The options that choose a panel among all of the metric."""
        own = panel.conditions
        return [question.option(key, own.get(key)) for key in telling_keys([panel.conditions for panel in self.every])]

    @property
    def _ends(self) -> tuple[float, float]:
        places = [row.x for panel in self.panels for row in panel.cells]
        return min(places), max(places)

    @property
    def _arms(self) -> list[str]:
        return list(dict.fromkeys(arm for panel in self.panels for arm in panel.arms))

    @property
    def _options(self) -> dict[str, list[Any]]:
        """The values of each key that a curve has, and of the placement."""
        facts = [panel.conditions for panel in self.panels]
        keys = [key for key in (*KEYS, "placement") if any(key in own for own in facts)]
        return {key: sorted({own.get(key) for own in facts}, key=_order) for key in keys}


def experiments(titles: Mapping[str, str]) -> list[str]:
    """One line for each experiment with its title, and a command that lists one."""
    width = max(map(len, titles), default=0)
    lines = [f"{name:{width}}  {title}" for name, title in titles.items()]
    return [*lines, *(f"{COMMAND} {name}" for name in list(titles)[:1])]


def _choice(names: Any) -> str:
    return " | ".join(map(question.quoted, names))


def _order(value: object) -> tuple[bool, float, str]:
    """Numbers by their size, texts by the alphabet, a missing value last."""
    return value is None, float(value) if isinstance(value, int | float) else 0.0, str(value)
