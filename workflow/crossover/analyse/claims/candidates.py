"""The curves for claims: those that a run measured, or those that a source published."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from crossover.analyse.curves.curve import NAMES, PANEL, Curve
from crossover.analyse.statistics.intervals import Floats
from crossover.config.published import Dataset
from crossover.design.protocol import columns, holds, known, label

Quantity = Mapping[str, Any]


class NotMeasuredError(Exception):
    """A curve that a claim needs is missing; the message has the reason and the remedy."""

    def __init__(self, reason: str, *arms: str):
        self.reason, self.arms = reason, arms
        super().__init__(f"{', '.join(f'`{arm}`' for arm in arms)}: {reason}" if arms else reason)

    @classmethod
    def of(cls, errors: Sequence[NotMeasuredError]) -> NotMeasuredError:
        """One error for several, with all arms that are missing for the same reason together."""
        alike: dict[str, list[str]] = {}
        for error in errors:
            alike.setdefault(error.reason, []).extend(error.arms)
        return cls("; ".join(str(cls(reason, *arms)) for reason, arms in alike.items()))


def changed(quantity: Quantity, change: str | Mapping[str, Any] | None = None) -> Quantity:
    """The quantity of another arm, or with other names and keys."""
    return {**quantity, **({"arm": change} if isinstance(change, str) else change or {})}


@dataclass(frozen=True)
class Candidates(ABC):
    """Curves, and explanations for missing ones."""

    curves: Sequence[Curve]
    effects: Mapping[tuple[str, str, str], float]
    """The possible biases by experiment, placement and metric, as logarithms of ratios."""

    partial: ClassVar[bool] = False
    """Whether a curve may cover only a part of the claim's points."""

    def has(self, facts: Mapping[str, Any], wanted: Quantity) -> bool:
        """Whether a curve with these facts has the placement and the keys of a quantity."""
        return bool(facts["placement"] == wanted["placement"] and holds(wanted["where"], facts))

    def conditions(self, curve: Curve) -> dict[str, Any]:
        """The conditions of a curve, to compare with those of a claim's document."""
        return {}

    @abstractmethod
    def missing(self, wanted: Quantity) -> NotMeasuredError:
        """The reason for a missing curve, and the remedy."""

    @abstractmethod
    def beyond(self, curve: Curve, place: float) -> NotMeasuredError:
        """The reason if a curve does not reach a point of the axis, and the remedy."""

    def curve(self, wanted: Quantity, refined: bool = False) -> Curve:
        """The first curve with a quantity's names and keys, with the points of a second sweep if `refined`.

        Raises NotMeasuredError if there is none.
        """
        for curve in self.curves:
            facts = curve.facts
            named = all(facts[key] == wanted[key] for key in ("experiment", "metric", "arm"))
            if named and self.has(facts, wanted) and not np.isnan(curve.values).all():
                return curve if refined else curve.swept
        raise self.missing(wanted)

    def reference(self, curve: Curve) -> Curve | None:
        """The reference arm that shares launches with a curve; None for the reference itself, or without one."""
        facts = {**curve.facts, "arm": curve.facts["reference"]}
        if facts["arm"] == curve.facts["arm"]:
            return None
        return next((other for other in self.curves if all(other.facts[name] == facts[name] for name in NAMES)), None)

    def effect(self, curve: Curve) -> float:
        """The possible bias for this curve; NaN if unknown."""
        return self.effects.get((curve.facts["experiment"], curve.facts["placement"], curve.facts["metric"]), np.nan)


def aligned(*curves: Curve) -> list[Curve]:
    """The curves, restricted to launches that measured all of them; possibly without any launch."""
    shared = set.intersection(*(set(curve.launches) for curve in curves))
    return [curve.of(shared if _same(curves, "experiment", "placement") else ()) for curve in curves]


def log_ratio(first: Curve, second: Curve) -> tuple[Floats, Floats]:
    """The cells that two curves of the same launches share, and the logarithms of their ratio, shape (launches, cells).

    Ratios of rounds if the curves are of one panel, otherwise ratios of medians.
    """
    x = np.intersect1d(first.x, second.x)
    paired = _same((first, second), *PANEL) and bool(first.facts["reference"])
    over, under = (_part(curve, x, paired) for curve in (first, second))
    return x, over - under


def _part(curve: Curve, x: Floats, paired: bool) -> Floats:
    """A curve's part of a ratio; in a ratio of rounds, the reference's part is zero."""
    if paired and curve.facts["arm"] == curve.facts["reference"]:
        return np.zeros((len(curve.launches), len(x)))
    d = curve.ratios if paired else curve.values
    return d[:, np.searchsorted(curve.x, x)]


def _same(curves: Sequence[Curve], *names: str) -> bool:
    return all(len({curve.facts[name] for curve in curves}) == 1 for name in names)


class Published(Candidates):
    """The curves that a source published."""

    partial = True

    def has(self, facts: Mapping[str, Any], wanted: Quantity) -> bool:
        """Whether a quantity has all keys of a published curve; all published numbers are of one host."""
        return wanted["placement"] != "nodes" and holds(known(facts), wanted["where"])

    def missing(self, wanted: Quantity) -> NotMeasuredError:
        """The reason for a missing curve."""
        return NotMeasuredError("it was not published")

    def beyond(self, curve: Curve, place: float) -> NotMeasuredError:
        """The reason for a missing point."""
        return NotMeasuredError("it was not published")


def of_source(datasets: Iterable[Dataset], source: str) -> Published:
    """The curves that a source published; each run counts as a launch, and repeated points are averaged."""
    return Published([curve for dataset in datasets if dataset.source == source for curve in _published(dataset)], {})


def _published(dataset: Dataset) -> Iterator[Curve]:
    for (metric, arm), points in pd.DataFrame(dataset.points).groupby(["metric", "arm"]):
        wide = points.pivot_table(index="run", columns="x", values="value")
        values = wide.to_numpy(float)
        facts = {"experiment": dataset.experiment, "placement": "", "protocol": label(dataset.where), "metric": metric}
        facts |= {"reference": "", "unit": "unknown", "axis_unit": "", "better": "", **columns(dataset.where)}
        nothing = np.full(values.shape, np.nan)
        own = facts | {"arm": arm}
        yield Curve(own, list(range(len(wide))), wide.columns.to_numpy(float), np.log(values), *[nothing] * 3)
