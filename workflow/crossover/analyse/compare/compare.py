"""Compares two runs, and writes the tables of changes."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.stats import false_discovery_control

from crossover.analyse.compare import run
from crossover.analyse.compare.change import Change, change, heights
from crossover.analyse.compare.pairs import pairs, title
from crossover.analyse.curves.curve import Curve, Row, competes
from crossover.analyse.statistics.intervals import Estimate, Floats, difference, estimate
from crossover.errors import CrossoverError
from crossover.records import failure, record

TABLES = record.schemas("changes curve_changes unpaired runs")
"""Every table of a comparison, by the name of its file."""


def compare(before: Path, after: Path, folder: Path, within: float) -> None:
    """Write TABLES, with the changes from the run in `before` to the run in `after`, to `folder`.

    A change below the fraction `within` counts as the same. Raises CrossoverError if there is nothing to compare,
    record.RecordError for a table that cannot be read or written.
    """
    if before.resolve() == after.resolve():
        raise CrossoverError(f"{before}: was given for both runs; name two folders of results")
    first, second = run.read(before, "before"), run.read(after, "after")
    found, alone = pairs(first, second)
    if not any(curve.competes for curve, _ in found):
        reasons = "; ".join(sorted({row["reason"] for row in alone}))
        raise CrossoverError(
            f"{before} and {after}: no arm can be compared ({reasons}); name runs of the same experiments"
        )
    rows: dict[str, list[Row]] = {"curve_changes": [], "changes": [], "unpaired": alone}
    failures = run.failures([first, second])
    for pair in found:
        facts = pair[1].facts
        with failure.caught("curve", title(facts), facts["experiment"]) as failed:
            whole, cells = _of_pair(*pair, math.log1p(within))
            rows["curve_changes"] += whole
            rows["changes"] += cells
        failures += failed
    for name, own in rows.items():
        _add_false_discovery(own)
        table = record.from_rows(own, TABLES[name])
        record.write(table, folder / f"{name}.parquet", failure.stored(failures))
    run.write_facts([first, second], folder)


def _of_pair(before: Curve, after: Curve, within: float) -> tuple[list[Row], list[Row]]:
    """The rows of record.CURVE_CHANGES and of record.CHANGES; `within` is a logarithm."""
    facts = after.facts
    whole: list[Row] = []
    cells: list[Row] = []
    if facts["arm"] != facts["reference"]:
        changed = change(before.ratios, after.ratios)
        cells = [facts | row for row in _cells(before, after, changed, within)]
        verdicts = [row["verdict"] for row in cells]
        of_ratio = {
            "quantity": "ratio",
            "p": changed.differs,
            "alone": changed.differs,
            "verdict": changed.verdict(facts["better"], within),
            **{f"cells_{verdict}": verdicts.count(verdict) for verdict in ("better", "worse", "same")},
        }
        whole.append(facts | _whole(before.ratios, after.ratios, within) | of_ratio)
    if not facts["null"]:
        # An arm's own values can only be shown to be the same: a machine's speed varies more between runs than between
        # the launches of one, so a difference means little.
        row = _whole(before.values, after.values, within)
        verdict = "same" if row["equivalent"] else "open"
        whole.append(facts | row | {"quantity": "value", "verdict": verdict})
    return whole, cells


def _cells(before: Curve, after: Curve, changed: Change, within: float) -> Iterator[Row]:
    sides = estimate(before.ratios), estimate(after.ratios)
    verdicts = changed.cell_verdicts(after.facts["better"], within)
    for cell, x in enumerate(after.x):
        yield _change(*sides, changed.cells, cell, within) | {
            "x": x,
            "p": changed.p[cell],
            "alone": changed.cells.p[cell],
            "verdict": verdicts[cell],
            "launches_before": int((~np.isnan(before.ratios[:, cell])).sum()),
            "launches_after": int((~np.isnan(after.ratios[:, cell])).sum()),
            "rounds": int(np.nansum(before.pairs[:, cell]) + np.nansum(after.pairs[:, cell])),
        }


def _whole(before: Floats, after: Floats, within: float) -> Row:
    """The change of the height of a curve, both of shape (launches, cells)."""
    first, second = map(estimate, heights(before, after))
    return _change(first, second, difference(second, first), 0, within) | {
        "launches_before": int((~np.isnan(before).all(axis=1)).sum()),
        "launches_after": int((~np.isnan(after).all(axis=1)).sum()),
        "cells": after.shape[1],
    }


def _change(before: Estimate, after: Estimate, changed: Estimate, cell: int, within: float) -> Row:
    estimates = {"before": before.mean, "after": after.mean, "change": changed.mean}
    estimates |= {"low": changed.low, "high": changed.high}
    return {name: math.exp(values[cell]) for name, values in estimates.items()} | {
        "equivalent": bool(changed.p_outside(-within, within)[cell] <= record.SIGNIFICANCE),
        "within": math.exp(within),
    }


def _add_false_discovery(rows: list[Row]) -> None:
    """Add `q`: the p-values of all arms that compete, adjusted over the whole run (Benjamini-Hochberg)."""
    tested = [row for row in rows if "alone" in row and competes(row)]
    adjusted = false_discovery_control([row["alone"] for row in tested]) if tested else ()
    for row, q in zip(tested, adjusted, strict=True):
        row["q"] = float(q)
