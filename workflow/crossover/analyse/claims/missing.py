"""Why a curve that a claim needs is not there, or does not reach far enough, and what would measure it."""

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
    """What a run's tables and its configuration say of what it did not measure."""

    launches: Sequence[Row]
    """The rows of record.LAUNCHES."""
    curves: Sequence[Curve]
    higher: Mapping[str, Sequence[Row]]
    """What higher tiers measure of each experiment, rising: {"tier", "arms", "adds", "low", "high"}, the last two
    the ends of the axis, and `adds` the keys of what the tier measures and this run does not."""

    def of_curve(self, wanted: Side) -> NotMeasuredError:
        """Why there is no curve of these names."""
        named = (wanted.experiment, wanted.placement)
        here = [row for row in self.launches if (row["experiment"], row["placement"]) == named]
        asked = [row for row in here if wanted.arm in read_settings(row["settings"]).get("arms", [])]
        if missing := absence.why(asked or self.launches, *named):
            return NotMeasuredError(missing)
        if not asked:
            return NotMeasuredError(self._to_take_part(wanted), wanted.arm)
        if not any(c.facts["experiment"] == wanted.experiment and as_named(c.facts, wanted) for c in self.curves):
            return NotMeasuredError(self._to_have_the_keys(wanted))
        return NotMeasuredError(f"no value of {wanted.metric} was sane under `{label(wanted.where)}`", wanted.arm)

    def _to_take_part(self, wanted: Side) -> str:
        for tier in self.higher.get(wanted.experiment, []):
            if wanted.arm in tier["arms"]:
                return f"measured only from tier `{tier['tier']}` on (`--config tier={tier['tier']}`)"
        return f"not among the `arms` of `{wanted.experiment}` in config/config.yaml"

    def _to_have_the_keys(self, wanted: Side) -> str:
        lacking = f"no curve of `{wanted.experiment}` is of the protocol `{label(wanted.where)}`"
        for tier in self.higher.get(wanted.experiment, []):
            if any(holds(keys, wanted.where) for keys in tier.get("adds", [])):
                return f"{lacking}; it is measured from tier `{tier['tier']}` on (`--config tier={tier['tier']}`)"
        return lacking

    def of_place(self, curve: Curve, place: float) -> str:
        """Why a curve does not reach a place on the axis."""
        experiment, unit = curve.facts["experiment"], curve.facts["axis_unit"]
        told = f"the axis goes from {curve.x[0]:,.10g} to {curve.x[-1]:,.10g} {unit} and leaves out {place:,.10g}"
        for tier in self.higher.get(experiment, []):
            if tier["low"] <= place <= tier["high"]:
                return f"{told}; it is measured from tier `{tier['tier']}` on (`--config tier={tier['tier']}`)"
        return (
            f"{told}, and so does that of every higher tier; add it to the axis of `{experiment}` in config/config.yaml"
        )
