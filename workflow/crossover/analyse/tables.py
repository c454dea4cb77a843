"""From raw files to the tables of an experiment, and from these to the tables of a whole run.

gather    raw files          -> measurements, launches, ranks
derive    measurements       -> summary, ratios, crossovers, thresholds
join      experiments' tables -> the run's tables
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from crossover import record
from crossover.analyse.crossing import crossing
from crossover.analyse.statistics import Floats, estimate
from crossover.analyse.threshold import threshold

TABLES = {
    "measurements": record.MEASUREMENTS,
    "launches": record.LAUNCHES,
    "ranks": record.RANKS,
    "summary": record.SUMMARY,
    "ratios": record.RATIOS,
    "crossovers": record.CROSSOVERS,
    "thresholds": record.THRESHOLDS,
}
"""Every table of a run, by the name of its file."""

PANEL = ["experiment", "placement", "protocol", "metric"]
CURVE = [*PANEL, "arm"]
FACTS = ["reference", "axis", "axis_unit", "unit", "better", "levels", "null", "ceiling"]
"""Columns that say more of a curve and are the same all along it."""


# ---- raw files


def gather(raw: list[Path], folder: Path) -> None:
    """Write the measurements, launches and ranks of the `raw` files, one launch each, to `folder`.

    Raises RecordError for a file that cannot be believed. The order of `raw` does not matter.
    """
    blocks, launches, ranks = [], [], []
    files: dict[tuple[str, str, int], Path] = {}
    for path in raw:
        table = record.read(path, record.MEASUREMENTS)
        launch, its_ranks = _told(path, table)
        _refuse_impossible(path, table)
        key = (launch["experiment"], launch["placement"], launch["launch"])
        if key in files:
            raise record.RecordError(f"{path}: is the same launch as {files[key]}; delete one of them")
        files[key] = path
        which = dict(zip(("experiment", "placement", "launch"), key, strict=True))
        blocks.append((key, table.replace_schema_metadata()))
        launches.append((key, [launch | {"file": str(path)}]))
        ranks.append((key, [rank | which for rank in its_ranks]))
    for name, rows in (("launches", launches), ("ranks", ranks)):
        flat = [row for _, part in sorted(rows, key=lambda entry: entry[0]) for row in part]
        record.write(pa.Table.from_pylist(flat, TABLES[name]), folder / f"{name}.parquet")
    blocks.sort(key=lambda entry: entry[0])
    _write_joined([table for _, table in blocks], "measurements", folder)


def _told(path: Path, table: pa.Table) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What a raw file tells of its launch and of the launch's ranks."""
    facts = record.metadata(table)
    if not {"experiment", "placement", "launch"} <= set(facts.get("launch", {})):
        raise record.RecordError(f"{path}: does not say which launch it holds; delete it and run again")
    record.refuse_untrue(path, table)
    return facts["launch"], facts.get("ranks", [])


def _refuse_impossible(path: Path, table: pa.Table) -> None:
    value = table["value"].drop_null()
    possible = pc.and_(pc.is_finite(value), pc.greater(value, 0))
    if not pc.all(possible, min_count=0).as_py():
        wrong = value.filter(pc.invert(possible))[0].as_py()
        raise record.RecordError(
            f"{path}: holds the value {wrong}, which no measurement gives; delete it and run again"
        )


# ---- one experiment


def derive(folder: Path) -> None:
    """Write the summary, ratios, crossovers and thresholds of the measurements in `folder` beside them."""
    blocks, curves = _curves(record.read(folder / "measurements.parquet", record.MEASUREMENTS))
    values = _launch_medians(blocks)
    ratios = _launch_medians(_paired(blocks, curves))
    _write_rows(_cells(values, curves, "median"), "summary", folder)
    _write_rows(_cells(ratios, curves, "ratio"), "ratios", folder)
    _write_rows(_crossings(ratios, curves), "crossovers", folder)
    _write_rows(_thresholds(values, curves), "thresholds", folder)


def _curves(table: pa.Table) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The sane blocks, as numbers alone, and the curves that they belong to.

    Blocks: curve, panel, x, launch, round, log (of the value). Curves: one row per curve, indexed by the
    number that the blocks know it by. Numbers instead of seven columns of text, because grouping a million
    rows by text takes as long as all the rest.
    """
    names = [*CURVE, *FACTS]
    sane = table.select([*names, "x", "launch", "round", "value"]).filter(pc.is_valid(table["value"]))
    texts = [name for name in names if name not in ("null", "ceiling")]
    frame = sane.to_pandas(categories=texts)
    groups = {"observed": True, "dropna": False, "sort": False}
    blocks = pd.DataFrame(
        {
            "curve": frame.groupby(CURVE, **groups).ngroup(),
            "panel": frame.groupby(PANEL, **groups).ngroup(),
            "x": frame["x"],
            "launch": frame["launch"],
            "round": frame["round"],
            "log": np.log(frame["value"]),
        }
    )
    first = ~blocks["curve"].duplicated()
    curves = frame.loc[first, names].astype({name: object for name in texts}).set_axis(blocks.loc[first, "curve"])
    return blocks, curves


def _paired(blocks: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """The log ratios of the arms to the reference of the same round; rounds that lack either are left out."""
    reference = blocks["curve"].map(curves["arm"] == curves["reference"]).astype(bool)
    same = ["panel", "launch", "x", "round"]
    pairs = blocks[~reference].merge(
        blocks.loc[reference, [*same, "log"]], on=same, suffixes=("", "_reference"), validate="many_to_one"
    )
    return pairs.assign(log=pairs["log"] - pairs["log_reference"])


def _launch_medians(blocks: pd.DataFrame) -> pd.DataFrame:
    """Each launch's median over rounds of `log`, and the rounds, at every cell of every curve."""
    rounds = blocks.groupby(["curve", "x", "launch"])["log"]
    return rounds.agg(log="median", rounds="size").reset_index()


def _by_curve(medians: pd.DataFrame) -> Iterator[tuple[int, Floats, Floats, pd.DataFrame]]:
    """Each curve's number, its x, its d of shape (launches, cells), and its rows of `medians`."""
    for curve, rows in medians.groupby("curve"):
        d = rows.pivot(index="launch", columns="x", values="log")
        yield int(str(curve)), d.columns.to_numpy(float), d.to_numpy(float), rows


def _cells(medians: pd.DataFrame, curves: pd.DataFrame, name: str) -> list[dict[str, Any]]:
    """One row per cell of every curve, its estimate called `name`."""
    rows = []
    for curve, x, d, behind in _by_curve(medians):
        cells = estimate(d)
        numbers = pd.DataFrame({"x": x, name: cells.mean, "low": cells.low, "high": cells.high})
        numbers[[name, "low", "high"]] = np.exp(numbers[[name, "low", "high"]])
        used = behind.groupby("x").agg(launches=("launch", "size"), rounds=("rounds", "sum")).reset_index(drop=True)
        facts = _facts(curves, curve)
        for cell in numbers.join(used).to_dict("records"):
            rows.append(facts | {str(column): value for column, value in cell.items()})
    return rows


def _facts(curves: pd.DataFrame, curve: int) -> dict[str, Any]:
    return {str(column): value for column, value in curves.loc[curve].items()}


def _crossings(ratios: pd.DataFrame, curves: pd.DataFrame) -> list[dict[str, Any]]:
    """One row per curve that competes: a null arm cannot beat itself, and a ceiling is not to be beaten."""
    return [
        _facts(curves, curve) | asdict(crossing(x, d)) | {"launches": len(d)}
        for curve, x, d, _ in _by_curve(ratios)
        if not curves.loc[curve, ["null", "ceiling"]].any()
    ]


def _thresholds(values: pd.DataFrame, curves: pd.DataFrame) -> list[dict[str, Any]]:
    """One row per level and curve, also of null arms and ceilings: these tell how far to trust and what is possible."""
    return [
        _facts(curves, curve) | {"level": level, "launches": len(d)} | asdict(threshold(x, np.exp(d), level))
        for curve, x, d, _ in _by_curve(values)
        for level in json.loads(str(curves.loc[curve, "levels"]))
    ]


# ---- a run


def join(folders: list[Path], results: Path) -> None:
    """Write each of TABLES to `results`, the rows of all experiments' `folders` together."""
    for name, schema in TABLES.items():
        parts = [record.read(folder / f"{name}.parquet", schema) for folder in sorted(folders)]
        _write_joined(parts, name, results)


def _write_joined(parts: list[pa.Table], name: str, folder: Path) -> None:
    whole = pa.concat_tables([TABLES[name].empty_table(), *(part.replace_schema_metadata() for part in parts)])
    record.write(whole.combine_chunks(), folder / f"{name}.parquet")


def _write_rows(rows: list[dict[str, Any]], name: str, folder: Path) -> None:
    """Write `rows` as the table `name`, sorted by curve, level and place; NaN becomes null."""
    schema = TABLES[name]
    order = [*CURVE, *(column for column in ("level", "x") if column in schema.names)]
    frame = pd.DataFrame(rows, columns=schema.names).sort_values(order, kind="stable")
    record.write(pa.Table.from_pandas(frame, schema, preserve_index=False), folder / f"{name}.parquet")
