"""Writes the tables of an experiment from its medians, and joins them into the tables of a run."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from crossover.analyse.estimates.choice import Question, questions
from crossover.analyse.estimates.crossover import crossing, levels_reached
from crossover.analyse.estimates.curve import NAMES, Curve, Row, curves
from crossover.analyse.estimates.intervals import POSITIVE, Floats, Scale, estimate, launches_needed, scale_of, verdicts
from crossover.analyse.estimates.sensitivity import Biases, sensitivities
from crossover.records import record
from crossover.records.outcome import SURE
from crossover.records.rows import Launch

TABLES = record.schemas(
    "launches ranks validities medians summary ratios crossovers thresholds sensitivity pairs choices"
)
"""Every table of an experiment, which a run has too, by file name."""

Rows: TypeAlias = pd.DataFrame | Iterable[Row]


def _summary(curves: Sequence[Curve]) -> Iterator[Row]:
    for curve in curves:
        scale = scale_of(curve.facts["unit"])
        yield from _cells(curve, "median", scale.of_log(curve.values), curve.rounds, scale)


def _ratios(curves: Sequence[Curve]) -> Iterator[Row]:
    """A ratio of two shares has no bound of its own."""
    biases = Biases(curves)
    for curve in curves:
        rows = list(_cells(curve, "ratio", curve.ratios, curve.pairs, POSITIVE))
        bias = biases.of(curve)
        told: list[Row] = []
        if curve.competes and rows:
            sign = 1 if curve.facts["better"] == "higher" else -1
            cells = estimate(sign * curve.ratios[:, ~np.isnan(curve.ratios).all(axis=0)])
            decided = verdicts(cells.with_bias(bias))
            needed = launches_needed(cells, bias, np.array([row["launches"] for row in rows]), decided)
            told = [{"verdict": one, "launches_needed": more} for one, more in zip(decided, needed, strict=True)]
        for number, row in enumerate(rows):
            yield row | {"smallest_effect": np.exp(bias)} | (told[number] if told else {})


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
    biases = Biases(curves)
    for curve in curves:
        used = ~np.isnan(curve.ratios)
        if curve.competes and used.any():
            found = crossing(curve.x, curve.ratios, biases.of(curve))
            yield curve.facts | asdict(found) | {"launches": int(used.any(axis=1).sum())}


def thresholds(curves: Sequence[Curve]) -> Iterator[Row]:
    """The rows of record.THRESHOLDS, of null arms and ceilings too: the first show the noise, the second the limit."""
    for curve in curves:
        levels = sorted(curve.facts["levels"])
        for level, found in zip(levels, levels_reached(curve.x, np.exp(curve.values), levels), strict=True):
            yield curve.facts | {"level": level, "launches": len(curve.launches)} | asdict(found)


def choice_rows(curves: Sequence[Curve], launches: Sequence[Launch]) -> Iterator[Row]:
    """The rows of record.CHOICES of an experiment's curves."""
    for question in questions(curves, launches):
        yield from _choice_rows(question)


def _choice_rows(question: Question) -> Iterator[Row]:
    values = {curve.facts["arm"]: _values_by_place(curve) for curve in question.curves}
    for before, each in zip([None, *question.choices], question.choices, strict=False):
        begins: tuple[float | None, ...] = (None, None, None)
        if before and each.change == SURE:
            begins = question.boundary(before.arm, each.arm, *each.between)
        value, low, high = values[each.arm][float(question.x[each.cell])]
        factor, factor_low, factor_high = each.factor
        yield question.facts | {
            "x": question.x[each.cell],
            "choice": each.arm,
            "verdict": each.verdict,
            "guarantee": each.guarantee,
            "left": each.left,
            "candidates": [*each.costs.items()],
            "next": each.next,
            "value": value,
            "low": low,
            "high": high,
            "factor": factor,
            "factor_low": factor_low,
            "factor_high": factor_high,
            "launches": each.launches,
            "launches_needed": each.launches_needed,
            "change": each.change or None,
            **dict(zip(("begins_low", "begins", "begins_high"), begins, strict=True)),
        }


def _values_by_place(curve: Curve) -> dict[float, tuple[float, float, float]]:
    """The values of an arm with their intervals, by place."""
    scale = scale_of(curve.facts["unit"])
    cells = estimate(scale.of_log(curve.values))
    ends = (scale.value(part) for part in (cells.mean, cells.low, cells.high))
    return {float(place): (middle, low, high) for place, middle, low, high in zip(curve.x, *ends, strict=True)}


FROM_CURVES: dict[str, Callable[[Sequence[Curve]], Rows]] = {
    "summary": _summary,
    "ratios": _ratios,
    "crossovers": _crossovers,
    "thresholds": thresholds,
    "sensitivity": sensitivities,
}
"""Functions for the rows of each table, from an experiment's curves."""


def derive(folder: Path) -> None:
    """Write all estimates from the medians in `folder` to the same folder.

    Raises RecordError for a file of `folder` that cannot be read or written.
    """
    every = list(curves(record.read(folder / "medians.parquet", record.MEDIANS).to_pandas()))
    launches = record.rows_of(folder / "launches.parquet", Launch)
    for name, rows in FROM_CURVES.items():
        write(rows(every), name, folder)
    write(choice_rows(every, launches), "choices", folder)


def write(rows: Rows, name: str, folder: Path) -> None:
    """Write one table of `folder`."""
    record.write(table(rows, name), folder / f"{name}.parquet")


def join(folders: list[Path], results: Path) -> None:
    """Write each of TABLES to `results`, the rows of all experiments' `folders` together."""
    for name, schema in TABLES.items():
        parts = (record.read(folder / f"{name}.parquet", schema) for folder in sorted(folders))
        whole = pa.concat_tables([schema.empty_table(), *(part.replace_schema_metadata() for part in parts)])
        record.write(whole, results / f"{name}.parquet")


def table(rows: Rows, name: str) -> pa.Table:
    """The `rows` as the table `name`, sorted by curve, level, place and launch; NaN becomes null."""
    schema = TABLES[name]
    order = (*NAMES, "host", "other", "level", "x_from", "x", "launch")
    frame = pd.DataFrame(rows, columns=schema.names)
    frame = frame.sort_values([column for column in order if column in schema.names], kind="stable")
    return pa.Table.from_pandas(frame, schema, preserve_index=False)
