"""Synthetic comparisons, written like those of the analysis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crossover.records import record

Row = dict[str, Any]

NAMES: Row = {
    "experiment": "zmq_throughput", "placement": "node", "protocol": "PUSH/PULL over tcp", "metric": "throughput",
    "arm": "no-copy", "reference": "copy", "better": "higher", "is_null_arm": False, "ceiling": False,
}  # fmt: skip
SIZES_BYTES = [100.0, 1000.0, 10_000.0]
NULL: Row = {"arm": "null", "is_null_arm": True, "change": 0.993, "q": None}


def curve(**changes: Any) -> Row:
    """A row of record.CHANGES on a whole curve: an arm that became worse."""
    told: Row = {
        "axis": "message size", "axis_unit": "bytes", "x": None, "verdict": "worse", "launches_before": 5,
        "launches_after": 5, "before": 1.25, "after": 1.1, "change": 0.88, "low": 0.84, "high": 0.92, "p": 0.001,
        "q": 0.002, "within": 1.1, "equivalent": False,
    }  # fmt: skip
    return NAMES | told | changes


def same(**changes: Any) -> Row:
    """A curve that stayed the same."""
    told = {"verdict": "same", "change": 1.01, "low": 0.98, "high": 1.04, "p": 0.6, "q": 0.7, "equivalent": True}
    return curve(arm="default", before=1.1, after=1.111) | told | changes


def cell(x: float, change: float, **changes: Any) -> Row:
    """A row of record.CHANGES on one point."""
    told = {"x": x, "after": 1.25 * change, "change": change, "low": change * 0.95, "high": change * 1.05, "p": 0.01}
    return curve() | told | {"q": None} | changes


def cells() -> list[Row]:
    """The points of the curves of `comparison`."""
    return [
        *(cell(x, change) for x, change in zip(SIZES_BYTES[:2], (0.9, 0.8), strict=True)),
        cell(SIZES_BYTES[2], 0.97, verdict="open"),
        *(
            cell(x, 1.01, verdict="same", arm=arm, is_null_arm=arm == "null")
            for arm in ("default", "null")
            for x in SIZES_BYTES
        ),
    ]


def comparison() -> dict[str, list[Row]]:
    """One arm worse, one the same, the null arm unchanged; another pyzmq."""
    return {
        "changes": [curve(), same(), same(**NULL), *cells()],
        "differences": [
            difference("run", "days", "2026-11-14", "2026-11-21"),
            difference("run", "folder", "results.before", "results.after"),
            difference("library", "pyzmq", "26.0", "27.3"),
        ],
    }


def difference(kind: str, name: str, before: str, after: str) -> Row:
    """A row of record.DIFFERENCES."""
    return {"kind": kind, "name": name, "before": before, "after": after}


def write(tables: dict[str, list[Row]], folder: Path) -> Path:
    """Write the tables to `folder`."""
    for name, rows in tables.items():
        record.write(record.from_rows(rows, record.schemas(name)[name]), folder / f"{name}.parquet")
    return folder
