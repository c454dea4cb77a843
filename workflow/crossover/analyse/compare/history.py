"""Follows each curve through many runs in order of time, and detects where it shifted."""

import math
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from pathlib import Path

import numpy as np

from crossover.analyse.compare import run
from crossover.analyse.compare.change import comparable
from crossover.analyse.compare.pairs import SAME, shared_launches, title
from crossover.analyse.compare.run import Name, Run
from crossover.analyse.curves.curve import NAMES, Row
from crossover.analyse.statistics.intervals import Floats, estimate
from crossover.analyse.statistics.segmentation import cuts
from crossover.errors import CrossoverError
from crossover.records import failure, record

TABLES = record.schemas("history runs")
"""Every table of a history, by the name of its file."""

FEWEST = 6
"""The fewest runs in which a shift can be distinguished from noise: half of them before it, half after."""

SHORTEST = 2
"""The fewest runs of a level, because a single odd run is no shift."""

PENALTY = 11.0
"""The reduction of squared distances from the levels that a shift needs, in variances of a run.

By simulation: with this penalty, less than 5 % of constant histories of 6 to 20 runs show a shift, whether the runs are
normal or have the tails of Student's t with three degrees of freedom (benchmarks/false_changes.py, which also
shows how large a shift is detected).
"""


def history(folders: list[Path], folder: Path) -> None:
    """Write TABLES, of the runs in `folders`, to `folder`.

    Raises CrossoverError if the runs give no history, record.RecordError for a table that cannot be read or written.
    """
    named = ", ".join(map(str, folders))
    if len({each.resolve() for each in folders}) < 2:
        raise CrossoverError(f"{named}: is only one run; name at least two folders of results")
    read = sorted((run.read(each, "") for each in folders), key=lambda each: each.began_utc)
    runs = [replace(each, label=str(number)) for number, each in enumerate(read, start=1)]
    rows: list[Row] = []
    failures = run.failures(runs)
    for name in sorted({name for each in runs for name in each.curves}):
        facts = dict(zip(NAMES, name, strict=True))
        with failure.caught("curve", title(facts), facts["experiment"]) as failed:
            rows += _course(name, runs)
        failures += failed
    if not rows:
        raise CrossoverError(f"{named}: no two of these runs share a curve; name runs of the same experiments")
    record.write(record.from_rows(rows, record.HISTORY), folder / "history.parquet", failure.stored(failures))
    run.write_facts(runs, folder)


def _course(name: Name, runs: list[Run]) -> list[Row]:
    """The rows of one curve, one for each run that has it; none if fewer than two runs have it.

    A curve without a point that every launch of these runs measured cannot be followed: its rows have no numbers.
    """
    having = _comparable(name, runs)
    if len(having) < 2:
        return []
    every = [each.curves[name] for each in having]
    rows: list[Row] = [
        every[-1].facts
        | {"run": each.label, "number": int(each.label), "folder": str(each.folder), "began_utc": each.began_utc}
        | {"launches": len(curve.launches), "cells": 0, "changed": False}
        for each, curve in zip(having, every, strict=True)
    ]
    common = reduce(np.intersect1d, [curve.x for curve in every])
    samples = comparable(*(curve.at(common).ratios for curve in every))
    if np.isnan(samples[0]).any():
        return rows
    found = [estimate(d.mean(axis=1, keepdims=True)) for d in samples]
    centres = np.array([each.mean[0] for each in found])
    bounds = [0, *starts(centres), len(centres)]
    levels = np.concatenate([np.full(end - first, centres[first:end].mean()) for first, end in pairwise(bounds)])
    for position, (row, d, here) in enumerate(zip(rows, samples, found, strict=True)):
        row["launches"], row["cells"] = d.shape
        row["level"], row["changed"] = math.exp(levels[position]), position in bounds[1:-1]
        row["ratio"], row["low"], row["high"] = (math.exp(each[0]) for each in (here.mean, here.low, here.high))
    return rows


def _comparable(name: Name, runs: list[Run]) -> list[Run]:
    """The runs with ratios of this curve, of the same quantity as the last run's, and without shared launches."""
    having = [each for each in runs if name in each.curves and not np.isnan(each.curves[name].ratios).all()]
    if not having:
        return []
    last = having[-1].curves[name].facts
    kept: list[Run] = []
    for each in having:
        facts = each.curves[name].facts
        if all(facts[column] == last[column] for column in SAME) and not shared_launches(facts, *kept, each):
            kept.append(each)
    return kept


def starts(values: Floats) -> list[int]:
    """The positions in `values`, one per run in order of time, at which another level begins.

    Least squares with a penalty for every shift. The variance of a run is estimated from the steps between neighbouring
    runs, of which a shift affects only one. It is not estimated from launches, because only the steps contain the
    differences from day to day.
    """
    if len(values) < FEWEST:
        return []
    spread = np.sqrt((np.diff(values) ** 2).mean() / 2)
    if spread == 0:
        return []
    return cuts((values / spread)[np.newaxis], PENALTY, SHORTEST)[0]
