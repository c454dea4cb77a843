"""Compares two runs, and writes the tables of changes.

A curve is tested for a difference between two independent samples of launches, at any point or as a whole. Both samples
keep their own variance (Welch), pooled over neighbouring cells as everywhere. The compared quantity is a log ratio of
an arm to its reference, both measured in the same rounds, so machine-wide speed changes cancel out. The interval covers
the variation from launch to launch.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from scipy.stats import false_discovery_control

from crossover.analyse.estimates.curve import Curve, Row, competes
from crossover.analyse.estimates.intervals import Estimate, Floats, difference, estimate, holm
from crossover.analyse.tables import runs
from crossover.analyse.tables.runs import pairs
from crossover.errors import CrossoverError
from crossover.records import record
from crossover.records.record import SIGNIFICANCE

TABLES = record.schemas("changes unpaired differences")
"""Every table of a comparison, by the name of its file."""

Verdict = Literal["better", "worse", "mixed", "same", "open"]

WORDS: dict[int, Verdict] = {1: "better", -1: "worse"}
"""The verdict for each significant sign of a change for the better."""

WHOLE = 0.5
"""The weight of a curve's height among its tests; docs/benchmarks/analysis.md compares other weights."""


@dataclass(frozen=True)
class Change:
    """The change of one curve: `after` minus `before`, in logarithms."""

    cells: Estimate
    """The change of each cell."""
    whole: Estimate
    """The change of the curve's height, shape (1,); NaN if no cell was measured by every launch."""
    p: Floats
    """p-value of each cell, then of the whole: one family, with a false rejection in at most 5 % of cases."""

    @property
    def differs(self) -> float:
        """p-value of no change anywhere along the curve."""
        return float(self.p.min())

    def cell_verdicts(self, better: str, within: float) -> list[Verdict]:
        """The verdict on each cell; `better` is `higher` or `lower`, `within` a distance in logarithms."""
        equal = self.cells.p_outside(-within, within) <= SIGNIFICANCE
        signs = _signs(self.cells.mean, self.p[:-1], better)
        return [WORDS.get(sign, "same" if same else "open") for sign, same in zip(signs, equal, strict=True)]

    def verdict(self, better: str, within: float) -> Verdict:
        """The verdict on the curve: `mixed` is better in one test and worse in another, `same` is about the height."""
        mean = np.append(self.cells.mean, self.whole.mean)
        signs = set(_signs(mean, self.p, better)) - {0}
        if len(signs) > 1:
            return "mixed"
        if signs:
            return WORDS[signs.pop()]
        return "same" if self.whole.p_outside(-within, within)[0] <= SIGNIFICANCE else "open"


def compare(before: Path, after: Path, folder: Path, within: float) -> None:
    """Write TABLES, with the changes from the run in `before` to the run in `after`, to `folder`.

    A change below the fraction `within` counts as the same. Raises CrossoverError if there is nothing to compare,
    record.RecordError for a table that cannot be read or written.
    """
    if before.resolve() == after.resolve():
        raise CrossoverError(f"{before}: was given for both runs; name two folders of results")
    first, second = runs.read_run(before, "before"), runs.read_run(after, "after")
    found, alone = pairs(first, second)
    if not any(curve.competes for curve, _ in found):
        reasons = "; ".join(sorted({row["reason"] for row in alone}))
        raise CrossoverError(
            f"{before} and {after}: no arm can be compared ({reasons}); name runs of the same experiments"
        )
    changes: list[Row] = []
    for pair in found:
        facts = pair[1].facts
        if facts["arm"] != facts["reference"]:
            changes += _of_pair(*pair, math.log1p(within))
    _add_false_discovery(changes)
    tables = {"changes": changes, "unpaired": alone, "differences": runs.differences(first, second)}
    for name, rows in tables.items():
        record.write(record.from_rows(rows, TABLES[name]), folder / f"{name}.parquet")


def change(before: Floats, after: Floats) -> Change:
    """The change of a curve from `before` to `after`, both of shape (launches, cells), of the same cells.

    A change of all cells shows best in the curve's height (see `heights`), a change of a few cells in these cells. So
    one family of tests has both: the height has the weight WHOLE, the cells share the rest, and rejected tests pass
    their weight on (Holm).
    """
    cells = difference(estimate(after), estimate(before))
    whole = difference(*map(estimate, heights(after, before)))
    known = not np.isnan(whole.error[0])
    share = WHOLE if known else 0.0
    weights = np.append(np.full(len(cells.mean), (1 - share) / len(cells.mean)), share)
    return Change(cells, whole, holm(np.append(cells.p, whole.p), weights))


def heights(*samples: Floats) -> list[Floats]:
    """The height of the curve in each launch: the mean over cells of the middle curve of all `samples`, plus the median
    distance of the launch from that curve. Each of shape (launches, 1).

    A launch's own mean would depend too much on a single outlying cell. This is one step of Tukey's median polish
    (Exploratory Data Analysis, 1977), from a middle curve in which every sample has the same weight. NaN if
    `comparable` leaves no cell.
    """
    kept = comparable(*samples)
    middle = np.mean([d.mean(axis=0) for d in kept], axis=0)
    return [middle.mean() + np.median(d - middle, axis=1, keepdims=True) for d in kept]


def comparable(*samples: Floats) -> list[Floats]:
    """Each sample, restricted to launches that measured any cell, and to cells that all launches of all samples
    measured.

    `samples` have the same cells, shape (launches, cells). If no cell is left, each is a single NaN.
    """
    taking_part = [d[~np.isnan(d).all(axis=1)] for d in samples]
    complete = ~np.isnan(np.concatenate(taking_part)).any(axis=0)
    if not (complete.any() and all(map(len, taking_part))):
        return [np.full((1, 1), np.nan) for _ in samples]
    return [d[:, complete] for d in taking_part]


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


def _signs(mean: Floats, p: Floats, better: str) -> list[int]:
    """1 for a significant change for the better, -1 for the worse, otherwise 0."""
    up = 1 if better == "higher" else -1
    return [int(up * np.sign(each)) if small else 0 for each, small in zip(mean, p <= SIGNIFICANCE, strict=True)]
