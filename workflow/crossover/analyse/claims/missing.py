"""The reason if a curve for a claim is missing or too short, and the remedy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crossover.analyse.claims.candidates import NotMeasuredError, Side, as_named
from crossover.analyse.curves.curve import Curve
from crossover.planning.plan import read_settings
from crossover.records import holes
from crossover.records.protocol import Keys, holds

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Absence:
    """Facts of a run's tables and configuration that explain missing measurements."""

    launches: Sequence[Row]
    """The rows of record.LAUNCHES."""
    curves: Sequence[Curve]
    higher: Mapping[str, Sequence[Row]]
    """The higher tiers of each experiment, rising: {"tier", "arms", "adds", "low", "high"}. `low` and `high` are the
    ends of the axis, `adds` the keys of the curves that the tier adds."""

    def of_curve(self, wanted: Side) -> NotMeasuredError:
        """The reason for a missing curve."""
        experiment, placement = wanted.experiment, wanted.placement
        here = [row for row in self.launches if (row["experiment"], row["placement"]) == (experiment, placement)]
        with_arm = [row for row in here if wanted.arm in read_settings(row["settings"]).get("arms", [])]
        if missing := holes.why(with_arm or self.launches, experiment, placement):
            return NotMeasuredError(missing)
        tiers = self.higher.get(experiment, [])
        if not with_arm:
            tier = next((tier for tier in tiers if wanted.arm in tier["arms"]), None)
            lacking = f"not among the `arms` of `{experiment}` in config/config.yaml; add it there"
            return NotMeasuredError(f"measured only {_from(tier)}" if tier else lacking, wanted.arm)
        if not any(c.facts["experiment"] == experiment and as_named(c.facts, wanted) for c in self.curves):
            adding = (tier for tier in tiers if any(holds(keys, wanted.where) for keys in tier.get("adds", [])))
            return NotMeasuredError(f"`{experiment}` has no curve{_with(wanted.where)}{_measured(next(adding, None))}")
        return NotMeasuredError(f"no valid value of {wanted.metric}{_with(wanted.where)}", wanted.arm)

    def of_place(self, curve: Curve, place: float) -> str:
        """The reason if a curve does not reach a point of the axis."""
        experiment, unit = curve.facts["experiment"], curve.facts["axis_unit"]
        ends = f"the axis goes from {curve.x[0]:,.10g} to {curve.x[-1]:,.10g} {unit}, without {place:,.10g}"
        reaching = (tier for tier in self.higher.get(experiment, []) if tier["low"] <= place <= tier["high"])
        remedy = f", also in every higher tier; add it to the axis of `{experiment}` in config/config.yaml"
        return ends + (_measured(next(reaching, None)) or remedy)


def _with(where: Keys) -> str:
    """The keys of a claim as config/claims.yaml has them: a label would leave out those that it has no words for."""
    values = (f"{key}: {value if isinstance(value, str) else json.dumps(value)}" for key, value in where.items())
    return f" with `{', '.join(values)}`" if where else ""


def _measured(tier: Row | None) -> str:
    return f"; it is measured {_from(tier)}" if tier else ""


def _from(tier: Row) -> str:
    return f"from tier `{tier['tier']}` on (`--config tier={tier['tier']}`)"
