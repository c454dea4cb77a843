"""Synthetic comparisons, written like those of the analysis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from crossover.records import record

Row = dict[str, Any]

NAMES: Row = {
    "experiment": "zmq_throughput", "placement": "node", "protocol": "PUSH/PULL over tcp", "metric": "throughput",
    "arm": "no-copy", "reference": "copy", "better": "higher", "null": False, "ceiling": False,
}  # fmt: skip
SIZES_BYTES = [100.0, 1000.0, 10_000.0]
NULL: Row = {"arm": "null", "null": True, "change": 0.993, "q": None}


def curve(**changes: Any) -> Row:
    """A row of record.CURVE_CHANGES: an arm that became worse."""
    told: Row = {
        "unit": "messages/s", "quantity": "ratio", "verdict": "worse", "launches_before": 5, "launches_after": 5,
        "cells": 3, "cells_better": 0, "cells_worse": 2, "cells_same": 0, "before": 1.25, "after": 1.1, "change": 0.88,
        "low": 0.84, "high": 0.92, "p": 0.001, "q": 0.002, "within": 1.1, "equivalent": False,
    }  # fmt: skip
    return NAMES | told | changes


def same(**changes: Any) -> Row:
    """A curve that stayed the same."""
    told = {"verdict": "same", "change": 1.01, "low": 0.98, "high": 1.04, "p": 0.6, "q": 0.7, "equivalent": True}
    return curve(arm="default", cells_worse=0, cells_same=3, before=1.1, after=1.111) | told | changes


def cell(x: float, change: float, **changes: Any) -> Row:
    """A row of record.CHANGES."""
    told: Row = {
        "axis": "message size", "axis_unit": "bytes", "x": x, "before": 1.25, "after": 1.25 * change, "change": change,
        "low": change * 0.95, "high": change * 1.05, "p": 0.01, "q": 0.01, "verdict": "worse", "equivalent": False,
        "within": 1.1, "launches_before": 5, "launches_after": 5, "rounds": 100,
    }  # fmt: skip
    return NAMES | told | changes


def comparison() -> dict[str, list[Row]]:
    """One arm worse, one the same, the null arm unchanged; the absolute values; an arm and a point in one run only."""
    value = {"quantity": "value", "verdict": "same", "p": None, "q": None}
    return {
        "curve_changes": [
            curve(), same(), same(**NULL), curve(before=1.2e6, after=1.1e6, change=0.917, **value),
        ],
        "changes": [
            *(cell(x, change) for x, change in zip(SIZES_BYTES[:2], (0.9, 0.8), strict=True)),
            cell(SIZES_BYTES[2], 0.97, verdict="open"),
            *(cell(x, 1.01, verdict="same", arm="null", null=True) for x in SIZES_BYTES),
        ],
        "unpaired": [
            lonely(arm="default", reason="after did not measure this arm"),
            lonely(x=464.0, reason="the other run did not measure this point"),
        ],
        "runs": [*facts("before", pyzmq="26.0"), *facts("after", pyzmq="27.3", day="2026-11-21")],
    }  # fmt: skip


def lonely(**changes: Any) -> Row:
    """A row of record.UNPAIRED."""
    named = {name: NAMES[name] for name in ("experiment", "placement", "protocol", "metric", "arm")}
    return named | {"x": None, "run": "before"} | changes


def facts(run: str, pyzmq: str, day: str = "2026-11-14", host: str = "node-a") -> list[Row]:
    """The rows of record.RUNS on one run."""
    told = {
        ("when", "days"): day, ("launches", "measured"): "5", ("code", "commit"): "0123abcd", ("machine", "host"): host,
        ("library", "pyzmq"): pyzmq, ("setting", "zmq_throughput, node: budget_seconds"): "6",
    }  # fmt: skip
    return [
        {"run": run, "folder": f"results.{run}", "kind": kind, "name": name, "value": value}
        for (kind, name), value in told.items()
    ]


SCHEMAS: dict[str, pa.Schema] = {
    "curve_changes": record.CURVE_CHANGES, "changes": record.CHANGES, "unpaired": record.UNPAIRED,
    "runs": record.RUNS,
}  # fmt: skip


def write(tables: dict[str, list[Row]], folder: Path) -> Path:
    """Write the tables to `folder`."""
    for name, rows in tables.items():
        record.write(pa.Table.from_pylist(rows, SCHEMAS[name]), folder / f"{name}.parquet")
    return folder
