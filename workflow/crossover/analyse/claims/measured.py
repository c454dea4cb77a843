"""The curves for claims that a run measured, and the reasons for missing or short ones, with the remedies."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crossover.analyse.claims.candidates import Candidates, NotMeasuredError, Quantity
from crossover.analyse.curves.curve import Curve, Row, curves
from crossover.design.protocol import Keys, holds
from crossover.design.settings import read_settings
from crossover.records import holes, record

READ = ("launches", "medians", "sensitivity")
"""The joined tables behind the verdicts."""

Tiers = Mapping[str, Sequence[Row]]
"""The higher tiers of each experiment, rising: {"tier", "arms", "adds", "axis", "low", "high"}. `axis` is the axis's
key, `low` and `high` are its ends, `adds` the keys of the curves that the tier adds."""


def measured(results: Path, higher: Tiers) -> Measured:
    """The curves of the run whose joined tables are in `results`."""
    effects = {
        (row["experiment"], row["placement"], row["metric"]): math.log(row["smallest_effect"])
        for row in record.read(results / "sensitivity.parquet", record.SENSITIVITY).to_pylist()
        if row["smallest_effect"]
    }
    every = list(curves(record.read(results / "medians.parquet", record.MEDIANS).to_pandas()))
    launches = record.read(results / "launches.parquet", record.LAUNCHES).to_pylist()
    return Measured(every, effects, launches, higher)


@dataclass(frozen=True)
class Measured(Candidates):
    """The curves of a run, and what its tables and configuration say about missing ones."""

    launches: Sequence[Row]
    """The rows of record.LAUNCHES."""
    higher: Tiers

    def conditions(self, curve: Curve) -> dict[str, Any]:
        """The conditions of a curve that documents on task farms state: `engines`, `packer`."""
        arm, here = curve.facts["arm"], {name: curve.facts.get(name) for name in ("engines", "packer")}
        entrants = [read_settings(row["settings"]).get("entrants", {}).get(arm, {}) for row in self.launches]
        return here | next(({"packer": each["packer"]} for each in entrants if "packer" in each), {})

    def missing(self, wanted: Quantity) -> NotMeasuredError:
        """The reason for a missing curve."""
        experiment, placement, where, arm = (wanted[key] for key in ("experiment", "placement", "where", "arm"))
        here = [row for row in self.launches if (row["experiment"], row["placement"]) == (experiment, placement)]
        with_arm = [row for row in here if arm in read_settings(row["settings"]).get("arms", [])]
        if missing := holes.why(with_arm or self.launches, experiment, placement):
            return NotMeasuredError(missing)
        tiers = self.higher.get(experiment, [])
        if not with_arm:
            tier = next((tier for tier in tiers if arm in tier["arms"]), None)
            lacking = f"not among the `arms` of `{experiment}` in config/config.yaml; add it there"
            return NotMeasuredError(f"measured only {_from(tier)}" if tier else lacking, arm)
        if not any(c.facts["experiment"] == experiment and self.has(c.facts, wanted) for c in self.curves):
            adding = (tier for tier in tiers if any(holds(keys, where) for keys in tier.get("adds", [])))
            absent = f"`{experiment}` has no curve{_with(where)}{_available(next(adding, None))}"
            return NotMeasuredError(f"not measured under its conditions: {absent}")
        return NotMeasuredError(f"no valid value of {wanted['metric']}{_with(where)}", arm)

    def beyond(self, curve: Curve, place: float) -> NotMeasuredError:
        """The reason if a curve does not reach a point of the axis."""
        experiment, unit = curve.facts["experiment"], curve.facts["axis_unit"]
        ends = f"the axis goes from {curve.x[0]:,.10g} to {curve.x[-1]:,.10g} {unit}, without {place:,.10g}"
        higher = self.higher.get(experiment, [])
        reaching = (tier for tier in higher if tier["low"] <= place <= tier["high"])
        key = f"`{higher[0]['axis']}`" if higher and "axis" in higher[0] else "the axis"
        remedy = f", also in every higher tier; add it to {key} of `{experiment}` in config/config.yaml"
        return NotMeasuredError(ends + (_available(next(reaching, None)) or remedy))


def _with(where: Keys) -> str:
    """The keys of a claim as config/claims.yaml has them: a label would leave out those that it has no words for."""
    values = (f"{key}: {value if isinstance(value, str) else json.dumps(value)}" for key, value in where.items())
    return f" with `{', '.join(values)}`" if where else ""


def _available(tier: Row | None) -> str:
    return f"; it is measured {_from(tier)}" if tier else ""


def _from(tier: Row) -> str:
    return f"from tier `{tier['tier']}` on (`--config tier={tier['tier']}`)"
