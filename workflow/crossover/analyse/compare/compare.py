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
from crossover.analyse.statistics.intervals import Estimate, Floats, estimate
from crossover.errors import CrossoverError
from crossover.records import failure, record

TABLES = record.schemas("changes unpaired differences")
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
    changes: list[Row] = []
    failures = run.failures(first, second)
    for pair in found:
        facts = pair[1].facts
        if facts["arm"] == facts["reference"]:
            continue
        with failure.caught("curve", title(facts), facts["experiment"]) as failed:
            changes += _of_pair(*pair, math.log1p(within))
        failures += failed
    _add_false_discovery(changes)
    tables = {"changes": changes, "unpaired": alone, "differences": run.differences(first, second)}
    for name, rows in tables.items():
        record.write(record.from_rows(rows, TABLES[name]), folder / f"{name}.parquet", failure.stored(failures))


def _of_pair(before: Curve, after: Curve, within: float) -> list[Row]:
    """The rows of one curve, the whole first; `within` is a logarithm."""
    changed = change(before.ratios, after.ratios)
    whole = {"p": changed.differs, "verdict": changed.verdict(after.facts["better"], within)}
    whole |= _launches(before, after, np.ones(len(after.x), bool))
    first, second = map(estimate, heights(before.ratios, after.ratios))
    rows = [_change(first, second, changed.whole, 0, within) | whole, *_cells(before, after, changed, within)]
    return [after.facts | row for row in rows]


def _cells(before: Curve, after: Curve, changed: Change, within: float) -> Iterator[Row]:
    sides = estimate(before.ratios), estimate(after.ratios)
    verdicts = changed.cell_verdicts(after.facts["better"], within)
    for cell, x in enumerate(after.x):
        own = {"x": x, "p": changed.p[cell], "verdict": verdicts[cell]}
        yield _change(*sides, changed.cells, cell, within) | own | _launches(before, after, after.x == x)


def _launches(before: Curve, after: Curve, cells: Floats) -> Row:
    """The number of launches of each run that measured any of these cells."""
    return {
        f"launches_{label}": int((~np.isnan(curve.ratios[:, cells])).any(axis=1).sum())
        for label, curve in (("before", before), ("after", after))
    }


def _change(before: Estimate, after: Estimate, changed: Estimate, cell: int, within: float) -> Row:
    estimates = {"before": before.mean, "after": after.mean, "change": changed.mean}
    estimates |= {"low": changed.low, "high": changed.high}
    return {name: math.exp(values[cell]) for name, values in estimates.items()} | {
        "equivalent": bool(changed.p_outside(-within, within)[cell] <= record.SIGNIFICANCE),
        "within": math.exp(within),
    }


def _add_false_discovery(changes: list[Row]) -> None:
    """Add `q`: the p-values of all curves that compete, adjusted over the whole run (Benjamini-Hochberg)."""
    tested = [row for row in changes if "x" not in row and competes(row)]
    adjusted = false_discovery_control([row["p"] for row in tested]) if tested else ()
    for row, q in zip(tested, adjusted, strict=True):
        row["q"] = float(q)
