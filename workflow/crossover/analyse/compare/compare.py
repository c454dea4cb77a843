"""Compares two runs, and writes the tables of changes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy.stats import false_discovery_control

from crossover.analyse.compare import run
from crossover.analyse.compare.change import Change, change, heights
from crossover.analyse.compare.pairs import Pair, pairs, title
from crossover.analyse.compare.run import Row
from crossover.analyse.curves.curve import competes
from crossover.analyse.statistics.intervals import Estimate, difference, estimate
from crossover.errors import CrossoverError
from crossover.records import failure, record
from crossover.records.failure import Failure

TABLES = {
    "changes": record.CHANGES,
    "curve_changes": record.CURVE_CHANGES,
    "unpaired": record.UNPAIRED,
    "runs": record.RUNS,
}
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
    if not any(pair.before.competes for pair in found):
        reasons = "; ".join(sorted({row["reason"] for row in alone}))
        raise CrossoverError(
            f"{before} and {after}: no arm can be compared ({reasons}); name runs of the same experiments"
        )
    bound = math.log1p(within)
    whole, cells, failures = _rows(found, bound)
    kept = failure.stored([*run.failures([first, second]), *failures])
    for name, rows in (("curve_changes", whole), ("changes", cells), ("unpaired", alone)):
        table = pa.Table.from_pylist([_finite(row) for row in rows], TABLES[name])
        record.write(table, folder / f"{name}.parquet", kept)
    run.write_facts([first, second], folder)


def _rows(found: list[Pair], within: float) -> tuple[list[Row], list[Row], list[Failure]]:
    """The rows of record.CURVE_CHANGES and of record.CHANGES, and the curves for which that failed."""
    whole: list[Row] = []
    cells: list[Row] = []
    failures: list[Failure] = []
    for pair in found:
        with failure.caught("curve", title(pair.after.facts), pair.after.facts["experiment"]) as failed:
            own, mine = _of_pair(pair, within)
            whole += own
            cells += mine
        failures += failed
    return _with_false_discovery(whole), _with_false_discovery(cells), failures


def _of_pair(pair: Pair, within: float) -> tuple[list[Row], list[Row]]:
    whole: list[Row] = []
    cells: list[Row] = []
    if pair.after.facts["arm"] != pair.after.facts["reference"]:
        before, after = pair.values("ratios")
        changed = change(before, after)
        cells += _cells(pair, changed, (estimate(before), estimate(after)), within)
        whole.append(_curve(pair, changed, cells, within))
    if not pair.after.facts["null"]:
        whole.append(_absolute(pair, within))
    return whole, cells


def _cells(pair: Pair, changed: Change, sides: tuple[Estimate, Estimate], within: float) -> Iterator[Row]:
    (pairs_before, pairs_after), (before, after) = pair.values("pairs"), pair.values("ratios")
    verdicts = changed.cell_verdicts(pair.after.facts["better"], within)
    equivalent = changed.cells.p_outside(-within, within) <= record.SIGNIFICANCE
    for cell, x in enumerate(pair.x):
        yield pair.after.facts | {
            "x": x,
            "before": math.exp(sides[0].mean[cell]),
            "after": math.exp(sides[1].mean[cell]),
            **_interval(changed.cells, cell),
            "p": changed.p[cell],
            "alone": changed.cells.p[cell],
            "verdict": verdicts[cell],
            "equivalent": bool(equivalent[cell]),
            "within": math.exp(within),
            "launches_before": int((~np.isnan(before[:, cell])).sum()),
            "launches_after": int((~np.isnan(after[:, cell])).sum()),
            "rounds": int(np.nansum(pairs_before[:, cell]) + np.nansum(pairs_after[:, cell])),
        }


def _curve(pair: Pair, changed: Change, cells: list[Row], within: float) -> Row:
    """The change of a curve's ratios; `cells` are the rows of its cells."""
    verdicts = [row["verdict"] for row in cells]
    return _whole(pair, "ratios", within) | {
        "quantity": "ratio",
        "p": changed.differs,
        "alone": changed.differs,
        "verdict": changed.verdict(pair.after.facts["better"], within),
        "cells_better": verdicts.count("better"),
        "cells_worse": verdicts.count("worse"),
        "cells_same": verdicts.count("same"),
    }


def _absolute(pair: Pair, within: float) -> Row:
    """The change of an arm's own values, which can only be shown to be the same.

    A machine's speed varies more between runs than between the launches of one, so a difference means little.
    """
    row = _whole(pair, "values", within)
    return row | {"quantity": "value", "verdict": "same" if row["equivalent"] else "undecided"}


def _whole(pair: Pair, name: str, within: float) -> Row:
    """The change of the height of a curve, of its `ratios` or its `values`."""
    before, after = pair.values(name)
    sides = [estimate(height) for height in heights(before, after)]
    found = difference(sides[1], sides[0])
    return pair.after.facts | {
        "before": math.exp(sides[0].mean[0]),
        "after": math.exp(sides[1].mean[0]),
        **_interval(found, 0),
        "equivalent": bool(found.p_outside(-within, within)[0] <= record.SIGNIFICANCE),
        "within": math.exp(within),
        "launches_before": int((~np.isnan(before).all(axis=1)).sum()),
        "launches_after": int((~np.isnan(after).all(axis=1)).sum()),
        "cells": len(pair.x),
    }


def _interval(found: Estimate, cell: int) -> Row:
    ends = {"change": found.mean, "low": found.low, "high": found.high}
    return {name: math.exp(values[cell]) for name, values in ends.items()}


def _with_false_discovery(rows: list[Row]) -> list[Row]:
    """The rows with `q`: the p-values of all arms that compete, adjusted over the whole run (Benjamini-Hochberg)."""
    tested = [row for row in rows if "alone" in row and competes(row)]
    if tested:
        adjusted = false_discovery_control([row["alone"] for row in tested])
        for row, q in zip(tested, adjusted, strict=True):
            row["q"] = float(q)
    return rows


def _finite(row: Row) -> Row:
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
