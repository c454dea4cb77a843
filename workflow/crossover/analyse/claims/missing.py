"""Why a curve that a claim needs is missing or too short, and how to measure it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crossover.analyse.claims.candidates import NotMeasuredError, Side, as_named
from crossover.analyse.curves.curve import Curve

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Absence:
    """Facts of a run's tables and configuration that explain missing measurements."""

    launches: Sequence[Row]
    """The rows of record.LAUNCHES."""
    curves: Sequence[Curve]
    higher: Mapping[str, Sequence[Row]]
    """The higher tiers of each experiment, rising: {"tier", "arms", "adds", "low", "high"}. `low` and `high` are the
    ends of the axis, `adds` the names that only this tier measures."""

    def of_curve(self, wanted: Side) -> NotMeasuredError:
        """Why there is no such curve."""
        own = [row for row in self.launches if row["experiment"] == wanted.experiment]
        here = [row for row in own if row["placement"] == wanted.placement]
        asked = [row for row in here if wanted.arm in json.loads(row["settings"] or "{}").get("arms", [])]
        holes = [row for row in asked or here if row["outcome"] == "hole"]
        if not own:
            return NotMeasuredError(f"`{wanted.experiment}` is not part of this run; list it in config/config.yaml")
        if not here and wanted.placement == "nodes":
            return NotMeasuredError("placement `nodes` needs a cluster (`snakemake --profile slurm`)")
        if not here:
            return NotMeasuredError(f"`{wanted.experiment}` was not launched in placement `{wanted.placement}`")
        if len(holes) == len(asked or here):
            why = f"{holes[0]['hole']}: {holes[0]['reason']}".replace("`", "'")
            return NotMeasuredError(f"all its launches are holes, the first because of `{why}`")
        if not asked:
            return NotMeasuredError(self._to_take_part(wanted), wanted.arm)
        if not any(c.facts["experiment"] == wanted.experiment and as_named(c.facts, wanted) for c in self.curves):
            return NotMeasuredError(self._to_have_the_protocol(wanted))
        return NotMeasuredError(f"no valid value of {wanted.metric} under `{wanted.protocol}`", wanted.arm)

    def _to_take_part(self, wanted: Side) -> str:
        for tier in self.higher.get(wanted.experiment, []):
            if wanted.arm in tier["arms"]:
                return f"measured only from tier `{tier['tier']}` on (`--config tier={tier['tier']}`)"
        return f"not among the `arms` of `{wanted.experiment}` in config/config.yaml; add it there"

    def _to_have_the_protocol(self, wanted: Side) -> str:
        lacking = f"no curve of `{wanted.experiment}` has the protocol `{wanted.protocol}`"
        for tier in self.higher.get(wanted.experiment, []):
            if any(name in wanted.protocol for name in tier.get("adds", [])):
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
