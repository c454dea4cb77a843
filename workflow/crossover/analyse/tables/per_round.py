"""Estimates within launches, round by round, as rows of their tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from crossover.analyse.curves.launch_settings import targets
from crossover.analyse.curves.rounds import Blocks
from crossover.analyse.estimators.precision import needs
from crossover.analyse.statistics.steady_state import states

Row = dict[str, Any]


def _needs(blocks: Blocks, launches: Sequence[Row]) -> Iterator[Row]:
    for need in needs(blocks, launches):
        spread, planned = need.spread, need.plan
        parts = {"launch": spread.launch, "round": spread.round - spread.order, "order": spread.order}
        total = sum(parts.values())
        shares = {f"{name}_share": part / total if total else np.nan for name, part in parts.items()}
        yield (
            need.facts
            | shares
            | {
                "launches": need.launches,
                "cells": need.cells,
                "rounds": need.rounds,
                "launch_seconds": need.cost.launch_seconds,
                "round_seconds": need.cost.round_seconds,
                "half_width": np.expm1(need.half_width),
                "wanted": np.expm1(need.wanted),
                "launches_needed": planned.launches if planned else None,
                "rounds_needed": planned.rounds if planned else None,
                "seconds_needed": planned.seconds if planned else None,
            }
        )


def _steady(blocks: Blocks, launches: Sequence[Row]) -> pd.DataFrame:
    """Levels that differ by less than the target width count as equal."""
    found = blocks.series.join(blocks.curves, on="curve")
    wanted = {place: each.half_width for place, each in targets(launches).items()}
    tolerance = np.array([wanted.get(place, 0.0) for place in found["placement"]])
    worse = np.where(found["better"] == "lower", 1, -1)
    for name, column in (("", "log"), ("ratio_", "ratio")):
        known = blocks.rows[["series", column]].dropna()
        series = known["series"].to_numpy()
        of_each = states(known[column].to_numpy() * worse[series], series, tolerance)
        found[f"{name}state"] = [state.name for state in of_each]
        found[f"{name}settled"] = [state.settled for state in of_each]
    found["rounds"] = blocks.rows.groupby("series").size()
    found.loc[found["arm"] == found["reference"], "ratio_state"] = None
    return found


WITHIN: dict[str, Callable[[Blocks, Sequence[Row]], pd.DataFrame | Iterable[Row]]] = {
    "needs": _needs,
    "steady": _steady,
}
"""Functions for the rows of each table, from an experiment's blocks and the rows of its launches."""
