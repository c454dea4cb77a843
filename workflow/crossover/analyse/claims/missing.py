"""Why a curve that a claim needs is missing or too short, and how to measure it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crossover.analyse.claims.candidates import NotMeasuredError, Side, as_named
from crossover.analyse.curves.curve import Curve
from crossover.planning.plan import read_settings
from crossover.records import absence
from crossover.records.protocol import holds, label

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
        """Why there is no such curve."""
        named = (wanted.experiment, wanted.placement)
        here = [row for row in self.launches if (row["experiment"], row["placement"]) == named]
        asked = [row for row in here if wanted.arm in read_settings(row["settings"]).get("arms", [])]
        if missing := absence.why(asked or self.launches, *named):
            return NotMeasuredError(missing)
        if not asked:
            return NotMeasuredError(self._to_take_part(wanted), wanted.arm)
        if not any(c.facts["experiment"] == wanted.experiment and as_named(c.facts, wanted) for c in self.curves):
            return NotMeasuredError(self._to_have_the_keys(wanted))
        return NotMeasuredError(f"no valid value of {wanted.metric} under `{label(wanted.where)}`", wanted.arm)

    def _to_take_part(self, wanted: Side) -> str:
        for tier in self.higher.get(wanted.experiment, []):
            if wanted.arm in tier["arms"]:
                return f"measured only from tier `{tier['tier']}` on (`--config tier={tier['tier']}`)"
        return f"not among the `arms` of `{wanted.experiment}` in config/config.yaml; add it there"

    def _to_have_the_keys(self, wanted: Side) -> str:
        lacking = f"no curve of `{wanted.experiment}` has the protocol `{label(wanted.where)}`"
        for tier in self.higher.get(wanted.experiment, []):
            if any(holds(keys, wanted.where) for keys in tier.get("adds", [])):
                return f"{lacking}; it is measured from tier `{tier['tier']}` on (`--config tier={tier['tier']}`)"
        return lacking

    def of_place(self, curve: Curve, place: float) -> str:
        """Why a curve does not reach a point of the axis."""
        experiment, unit = curve.facts["experiment"], curve.facts["axis_unit"]
        told = f"the axis goes from {curve.x[0]:,.10g} to {curve.x[-1]:,.10g} {unit}, without {place:,.10g}"
        for tier in self.higher.get(experiment, []):
            if tier["low"] <= place <= tier["high"]:
                return f"{told}; it is measured from tier `{tier['tier']}` on (`--config tier={tier['tier']}`)"
        return f"{told}, also in every higher tier; add it to the axis of `{experiment}` in config/config.yaml"
