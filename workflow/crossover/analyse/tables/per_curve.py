"""Estimates from an experiment's curves, as rows of their tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from crossover.analyse.curves.curve import Curve
from crossover.analyse.estimators.crossover import crossing
from crossover.analyse.estimators.groups import groups
from crossover.analyse.estimators.hockney import Interval, hockney
from crossover.analyse.estimators.sensitivity import sensitivities
from crossover.analyse.estimators.threshold import threshold
from crossover.analyse.statistics.intervals import Floats, estimate
from crossover.analyse.statistics.scale import POSITIVE, Scale, of_unit

Row = dict[str, Any]

BYTES = {"bytes": 1, "elements": 8}
"""Units of an axis of message sizes, in bytes; an element is a float64, or as many bytes."""

SECONDS = {"s": 1, "messages/s": -1, "tasks/s": -1}
"""Units from which the time of a message follows, with the power that converts them to seconds. Bytes per second are
left out, because they repeat the same information."""


def _summary(curves: Sequence[Curve]) -> Iterator[Row]:
    for curve in curves:
        scale = of_unit(curve.facts["unit"])
        yield from _cells(curve, "median", scale.of_log(curve.values), curve.rounds, scale)


def _ratios(curves: Sequence[Curve]) -> Iterator[Row]:
    """A ratio of two shares has no bound of its own."""
    for curve in curves:
        yield from _cells(curve, "ratio", curve.ratios, curve.pairs, POSITIVE)


def _cells(curve: Curve, name: str, d: Floats, rounds: Floats, scale: Scale) -> Iterator[Row]:
    """One row per cell that any launch measured, its estimate called `name`; `d` is on this scale."""
    cells = estimate(d)
    for cell in np.flatnonzero(~np.isnan(d).all(axis=0)):
        behind = ~np.isnan(d[:, cell])
        yield curve.facts | {
            "x": curve.x[cell],
            name: scale.value(cells.mean[cell]),
            "low": scale.value(cells.low[cell]),
            "high": scale.value(cells.high[cell]),
            "launches": int(behind.sum()),
            "rounds": int(rounds[behind, cell].sum()),
        }


def _crossovers(curves: Sequence[Curve]) -> Iterator[Row]:
    for curve in curves:
        used = ~np.isnan(curve.ratios)
        if curve.competes and used.any():
            found = crossing(curve.x, curve.ratios)
            yield curve.facts | asdict(found) | {"launches": int(used.any(axis=1).sum())}


def _thresholds(curves: Sequence[Curve]) -> Iterator[Row]:
    """Includes null arms and ceilings, which show how far to trust the others and what is possible."""
    for curve in curves:
        for level in json.loads(curve.facts["levels"]):
            found = threshold(curve.x, np.exp(curve.values), level)
            yield curve.facts | {"level": level, "launches": len(curve.launches)} | asdict(found)


def _sensitivity(curves: Sequence[Curve]) -> Iterator[Row]:
    for found in sensitivities(curves):
        used = ~np.isnan(found.curve.ratios)
        yield found.curve.facts | {
            "launches": int(used.any(axis=1).sum()),
            "cells": int(used.any(axis=0).sum()),
            "null_cells": found.null_cells,
            "smallest_effect": np.exp(found.smallest_effect),
            "resolution": np.exp(found.resolution),
        }


def _groups(curves: Sequence[Curve]) -> Iterator[Row]:
    for number, group in enumerate(groups(curves)):
        yield group.curve.facts | {
            "x": group.x,
            "group": number % 2 + 1,
            "members": ", ".join(map(str, group.launches)),
            "launches": len(group.launches),
            "ratio": np.exp(group.ratio),
            "p": group.p,
        }


def _fits(curves: Sequence[Curve]) -> Iterator[Row]:
    """Includes null arms and ceilings."""
    for curve in (each.swept for each in curves):
        size, per = BYTES.get(curve.facts["axis_unit"]), SECONDS.get(curve.facts["unit"])
        if size and per:
            fit = hockney(size * curve.x, per * curve.values)
            shared = curve.facts | {"launches": fit.launches, "cells": fit.cells, "segments": len(fit.segments)}
            if not fit.segments:
                yield shared
            for number, segment in enumerate(fit.segments, start=1):
                begins = segment.break_bytes
                ends = {"first_bytes": segment.first_bytes, "last_bytes": segment.last_bytes}
                yield (
                    shared
                    | ends
                    | {
                        "segment": number,
                        "misfit": fit.misfit,
                        **_interval("latency_seconds", segment.latency_seconds),
                        **_interval("rate_bytes", segment.rate_bytes),
                        **(_interval("break_bytes", begins) if begins else {}),
                    }
                )


def _interval(name: str, of: Interval) -> Row:
    return {name: of.value, f"{name}_low": of.low, f"{name}_high": of.high}


DERIVED: dict[str, Callable[[Sequence[Curve]], Iterable[Row]]] = {
    "summary": _summary,
    "ratios": _ratios,
    "crossovers": _crossovers,
    "thresholds": _thresholds,
    "sensitivity": _sensitivity,
    "groups": _groups,
    "fits": _fits,
}
"""Functions for the rows of each table, from an experiment's curves."""
