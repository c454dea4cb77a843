"""The curves for claims: those that a run measured, or those that a source published; and why one is missing."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from crossover.analyse.estimates.curve import NAMES, PANEL, Curve, curves
from crossover.analyse.estimates.intervals import Floats
from crossover.config.claim_list import Quantity
from crossover.config.published import Dataset
from crossover.design.protocol import Keys, columns, holds, known, label
from crossover.records import holes, record
from crossover.records.rows import Launch, Sensitivity

READ = ("launches", "medians", "sensitivity")
"""The joined tables behind the verdicts."""

ELSEWHERE = "; a higher tier may measure it, or add it in config/config.yaml"


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
        return bool(facts["placement"] == wanted.placement and holds(wanted.where, facts))

    def conditions(self, curve: Curve) -> dict[str, Any]:
        """The conditions of a curve, to compare with those of a claim's document."""
        return {}

    @abstractmethod
    def missing(self, wanted: Quantity) -> NotMeasuredError:
        """The reason for a missing curve, and the remedy."""

    @abstractmethod
    def beyond(self, curve: Curve, place: float) -> NotMeasuredError:
        """The reason if a curve does not reach a point of the axis, and the remedy."""

    def curve(self, wanted: Quantity, every: bool = False) -> Curve:
        """The first curve with a quantity's names and keys, from `every` launch or from those of the whole axis.

        Raises NotMeasuredError if there is none.
        """
        for curve in self.curves:
            facts = curve.facts
            named = all(facts[key] == getattr(wanted, key) for key in ("experiment", "metric", "arm"))
            if named and self.has(facts, wanted) and not np.isnan(curve.values).all():
                return curve if every else curve.swept
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


@dataclass(frozen=True)
class Measured(Candidates):
    """The curves of a run, and what its tables and configuration say about missing ones."""

    launches: Sequence[Launch]

    def conditions(self, curve: Curve) -> dict[str, Any]:
        """The conditions of a curve that documents state too: `engines`, `packer`, `transport`."""
        arm, here = curve.facts["arm"], {name: curve.facts.get(name) for name in ("engines", "packer", "transport")}
        entrants = [(row.settings or {}).get("entrants", {}).get(arm, {}) for row in self.launches]
        return here | next(({"packer": each["packer"]} for each in entrants if "packer" in each), {})

    def missing(self, wanted: Quantity) -> NotMeasuredError:
        """The reason for a missing curve."""
        experiment, placement, where, arm = wanted.experiment, wanted.placement, wanted.where, wanted.arm
        here = [row for row in self.launches if (row.experiment, row.placement) == (experiment, placement)]
        with_arm = [row for row in here if arm in (row.settings or {}).get("arms", [])]
        if missing := holes.why(with_arm or self.launches, experiment, placement):
            return NotMeasuredError(missing)
        if not with_arm:
            return NotMeasuredError(f"not among the `arms` of `{experiment}`{ELSEWHERE}", arm)
        if not any(c.facts["experiment"] == experiment and self.has(c.facts, wanted) for c in self.curves):
            absent = f"`{experiment}` has no curve{_with(where)}"
            return NotMeasuredError(f"not measured under its conditions: {absent}{ELSEWHERE}")
        return NotMeasuredError(f"no valid value of {wanted.metric}{_with(where)}", arm)

    def beyond(self, curve: Curve, place: float) -> NotMeasuredError:
        """The reason if a curve does not reach a point of the axis."""
        unit = curve.facts["axis_unit"]
        ends = f"the axis goes from {curve.x[0]:,.10g} to {curve.x[-1]:,.10g} {unit}, without {place:,.10g}"
        return NotMeasuredError(ends + ELSEWHERE)


class Published(Candidates):
    """The curves that a source published."""

    partial = True

    def has(self, facts: Mapping[str, Any], wanted: Quantity) -> bool:
        """Whether a quantity has all keys of a published curve; all published numbers are of one host."""
        return wanted.placement != "nodes" and holds(known(facts), wanted.where)

    def missing(self, wanted: Quantity) -> NotMeasuredError:
        """The reason for a missing curve."""
        return NotMeasuredError("it was not published")

    def beyond(self, curve: Curve, place: float) -> NotMeasuredError:
        """The reason for a missing point."""
        return NotMeasuredError("it was not published")


def measured(results: Path) -> Measured:
    """The curves of the run whose joined tables are in `results`."""
    effects = {
        (row.experiment, row.placement, row.metric): math.log(row.smallest_effect)
        for row in record.rows_of(results / "sensitivity.parquet", Sensitivity)
        if row.smallest_effect
    }
    every = list(curves(record.read(results / "medians.parquet", record.MEDIANS).to_pandas()))
    launches = record.rows_of(results / "launches.parquet", Launch)
    return Measured(every, effects, launches)


def of_source(datasets: Iterable[Dataset], source: str) -> Published:
    """The curves that a source published; each run counts as a launch, and repeated points are averaged."""
    return Published([curve for dataset in datasets if dataset.source == source for curve in _published(dataset)], {})


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


def _published(dataset: Dataset) -> Iterator[Curve]:
    for (metric, arm), points in pd.DataFrame(dataset.points).groupby(["metric", "arm"]):
        wide = points.pivot_table(index="run", columns="x", values="value")
        values = wide.to_numpy(float)
        facts = {"experiment": dataset.experiment, "placement": "", "protocol": label(dataset.where), "metric": metric}
        facts |= {"reference": "", "unit": "unknown", "axis_unit": "", "better": "", **columns(dataset.where)}
        nothing = np.full(values.shape, np.nan)
        own = facts | {"arm": arm}
        yield Curve(own, list(range(len(wide))), wide.columns.to_numpy(float), np.log(values), *[nothing] * 3)


def _with(where: Keys) -> str:
    """The keys of a claim as config/claims.yaml has them: a label would leave out those that it has no words for."""
    values = (f"{key}: {value if isinstance(value, str) else json.dumps(value)}" for key, value in where.items())
    return f" with `{', '.join(values)}`" if where else ""
