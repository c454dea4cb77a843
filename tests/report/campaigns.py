"""Synthetic results of known truth, written like those of the analysis."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import label_keys
import pyarrow as pa

from crossover.design.experiments import declared
from crossover.design.protocol import columns
from crossover.records import record
from crossover.records.outcome import ALIKE, BETTER, HORIZON, KNOWN, OPEN, SETTLED, WINNER, WORSE
from crossover.report.charts import figures, ladder
from crossover.report.text.tables import Panel, Tables

Row = dict[str, Any]

MACHINE: Row = {
    "host": "node-a", "cpu": "Example CPU 9000", "affinity": "0-3", "governor": "performance", "kernel": "6.1.0",
    "os": "Debian 12", "python": "3.11.2", "libraries": {"pyzmq": "27.3.0", "libzmq": "4.3.5", "mpi4py": "4.1.2"},
    "network": {"eth0": 25000, "lo": 0}, "mpi": "MPICH 5.0.2", "slurm": None, "container": None,
    "variables": {}, "tuning": {"SMT": "on"},
    "logical_cpus": 4, "load": 0.5, "memory_bytes": 16_000_000_000,
}  # fmt: skip


SETTINGS: Row = {
    "block_seconds": 0.012, "rounds": {"at_least": 10, "at_most": 200}, "target_width": 0.02, "budget_seconds": 18,
}  # fmt: skip


def outcome(ratio: float, ends: tuple[float, float] | None, better: str = "higher", launches: int = 3) -> Row:
    """The columns of record.RATIOS on an outcome."""
    found: Row = {"ratio": ratio, "low": None, "high": None, "verdict": OPEN, "launches": launches}
    found |= {"better": better, "smallest_effect": None, "launches_needed": None}
    if ends is None:
        return found
    low, high = ends
    found |= {"low": low, "high": high, "smallest_effect": 1.0}
    if not low <= 1 <= high:
        return found | {"verdict": BETTER if (low > 1) == (better == "higher") else WORSE}
    if low >= 1 / KNOWN and high <= KNOWN:
        return found | {"verdict": ALIKE}
    distance, width = abs(math.log(ratio)), math.log(high / low) / 2
    for more in range(launches + 1, HORIZON * launches + 1):
        narrow = width * math.sqrt(launches / more)
        if narrow < distance or distance + narrow <= math.log(KNOWN):
            return found | {"launches_needed": more}
    return found


def crossover(verdicts: Sequence[str]) -> str:
    """The verdict on a crossover that follows from those of its cells."""
    decided = [verdict for verdict in verdicts if verdict in (BETTER, WORSE)]
    changes = sum(one != other for one, other in pairwise(decided))
    if changes:
        return "one" if changes == 1 else "several"
    if decided:
        return "always" if len(decided) == len(verdicts) else "none"
    return ALIKE if set(verdicts) == {ALIKE} else OPEN


@dataclass
class Curve:
    """One arm against the reference under one protocol; `slope` and `centre` fix the ratio at every point."""

    experiment: str
    protocol: str
    metric: str
    unit: str
    better: str
    arm: str
    reference: str
    axis: str
    axis_unit: str
    points: list[float]
    rate: float
    centre: float
    slope: float
    launches: int = 3
    half_width: float = 0.03
    intervals: tuple[tuple[float, float], ...] = ()
    """The intervals of the ratio at the points, instead of `centre`, `slope` and `half_width`."""

    def cells(self) -> list[Row]:
        """The ratios along the axis, with their outcomes."""
        ratios = [(x / self.centre) ** self.slope for x in self.points]
        every = self.intervals or [self.around(ratio) for ratio in ratios]
        if self.intervals:
            ratios = [math.sqrt(low * high) for low, high in self.intervals]
        return [
            {"x": x} | outcome(ratio, ends if self.launches > 1 else None, self.better, self.launches)
            for x, ratio, ends in zip(self.points, ratios, every, strict=True)
        ]

    def around(self, ratio: float) -> tuple[float, float]:
        """An interval of the half width."""
        return ratio * (1 - self.half_width), ratio * (1 + self.half_width)


@dataclass
class Campaign:
    """The results to write: curves, and launches that left a hole."""

    curves: list[Curve]
    holes: list[Row] = field(default_factory=list)
    thresholds: list[Row] = field(default_factory=list)
    estimated: dict[str, list[Row]] = field(default_factory=dict)
    """Rows of further tables, by name."""

    def write(self, folder: Path) -> Path:
        """Write the joined tables and those of each experiment, then draw the figures."""
        self.write_tables(folder)
        for path in sorted(folder.glob("experiments/*")):
            figures.draw(path, folder / "figures" / path.name)
        ladder.draw(folder, folder / "figures" / "ladder")
        return folder

    def write_tables(self, folder: Path) -> Path:
        """Write the joined tables and those of each experiment."""
        tables = self.tables()
        experiments = sorted({row["experiment"] for row in tables["launches"]})
        for name, schema in SCHEMAS.items():
            record.write(pa.Table.from_pylist(tables[name], schema=schema), folder / f"{name}.parquet")
            for experiment in experiments:
                own = [row for row in tables[name] if row["experiment"] == experiment]
                path = folder / "experiments" / experiment / f"{name}.parquet"
                record.write(pa.Table.from_pylist(own, schema=schema), path)
        return folder

    def tables(self) -> dict[str, list[Row]]:
        tables: dict[str, list[Row]] = {name: [] for name in SCHEMAS}
        for curve in self.curves:
            self._add(curve, tables)
        for experiment in sorted({curve.experiment for curve in self.curves}):
            launches = max(curve.launches for curve in self.curves if curve.experiment == experiment)
            for launch in range(1, launches + 1):
                tables["launches"].append(launch_row(experiment, launch))
                tables["ranks"] += [
                    MACHINE | {"experiment": experiment, "placement": "node", "launch": launch, "rank": rank}
                    for rank in (0, 1)
                ]
        tables["launches"] += self.holes
        tables["thresholds"] += self.thresholds
        tables["choices"] = [row for curve in self.curves for row in self._choices(curve)]
        tables |= self.estimated
        return tables

    def _choices(self, curve: Curve) -> list[Row]:
        """The choice between the arm and the reference at each point, if users choose by the metric."""
        known = declared().get(curve.experiment)
        if curve.launches < 2 or not known or curve.metric not in known.questions:
            return []
        shared = {
            "experiment": curve.experiment, "placement": "node", "protocol": curve.protocol, "metric": curve.metric,
            "axis": curve.axis, "axis_unit": curve.axis_unit, "unit": curve.unit, "better": curve.better,
            "launches": curve.launches,
            **columns(label_keys.keys(curve.protocol)),
        }  # fmt: skip
        sign = -1 if curve.better == "lower" else 1
        found: list[Row] = []
        for cell in curve.cells():
            low, middle, high = sorted(cell[name] ** sign for name in ("low", "ratio", "high"))
            arms, ends = [curve.arm, curve.reference], (middle, low, high)
            if middle < 1:
                arms, ends = arms[::-1], (1 / middle, 1 / high, 1 / low)
            decided, most = cell["verdict"] in (BETTER, WORSE), max(1 / ends[1], 1)
            needed = math.ceil(curve.launches * (math.log(ends[2] / ends[1]) / 2 / math.log(KNOWN)) ** 2)
            verdict = WINNER if decided else SETTLED if most <= KNOWN else OPEN
            own = {
                "begins": None, "begins_low": None, "begins_high": None, "low": None, "high": None,
                "x": cell["x"], "choice": arms[0], "next": arms[1], "value": curve.rate, "guarantee": most,
                "verdict": verdict,
                "candidates": [{"arm": arms[0], "guarantee": most}, {"arm": arms[1], "guarantee": ends[2]}],
                "left": [] if decided else arms[1:],
                "launches_needed": needed if verdict == OPEN and needed <= 4 * curve.launches else None,
            }  # fmt: skip
            found.append(shared | dict(zip(("factor", "factor_low", "factor_high"), ends, strict=True)) | own)
        for before, after in pairwise(found):
            if before["choice"] != after["choice"]:
                after["begins"] = math.sqrt(before["x"] * after["x"])
        return found

    def _add(self, curve: Curve, tables: dict[str, list[Row]]) -> None:
        shared = {
            "experiment": curve.experiment, "placement": "node", "protocol": curve.protocol, "metric": curve.metric,
            "axis": curve.axis, "axis_unit": curve.axis_unit, "better": curve.better, "launches": curve.launches,
            **columns(label_keys.keys(curve.protocol)),
        }  # fmt: skip
        replicated = curve.launches > 1
        sign = -1 if curve.better == "lower" else 1
        cells = curve.cells()
        for index, (x, own) in enumerate(zip(curve.points, cells, strict=True)):
            wobble = 1 + 0.008 * math.sin(3 * index)
            null = outcome(wobble, curve.around(wobble) if replicated else None, curve.better, curve.launches)
            null |= {"verdict": None, "launches_needed": None}
            reference_value = curve.rate / (1 + x / (30 * curve.points[0])) ** sign
            for arm, found in {curve.reference: {"ratio": 1.0}, curve.arm: own, "null": null}.items():
                value = reference_value * found["ratio"]
                cell = {
                    "x": x,
                    "arm": arm,
                    "is_null_arm": arm == "null",
                    "ceiling": False,
                    "rounds": 20 * curve.launches,
                }
                spread = {"low": value * 0.93, "high": value * 1.07} if replicated else {"low": None, "high": None}
                tables["summary"].append(shared | cell | spread | {"unit": curve.unit, "median": value})
                if arm != curve.reference:
                    tables["ratios"].append(shared | cell | found | {"reference": curve.reference})
        for start in (0, len(curve.points) // 2):
            for name in ("ok", "throttled"):
                row = {column: shared[column] for column in ("experiment", "placement", "protocol")}
                row |= {"arm": curve.reference, "is_null_arm": False, "x": curve.points[start], "validity": name}
                row |= {"stop": "width" if start else "budget", "cells": int(name == "ok"), "measurements": 1}
                tables["validities"].append(row | {"valid": int(name == "ok")})
        found: Row = dict.fromkeys(("x", "low", "high", "bracket_low", "bracket_high"))
        found["verdict"] = crossover([cell["verdict"] for cell in cells])
        if found["verdict"] == "one":
            decided = [cell for cell in cells if cell["verdict"] in (BETTER, WORSE)]
            ends = next((a["x"], b["x"]) for a, b in pairwise(decided) if a["verdict"] != b["verdict"])
            place = math.sqrt(ends[0] * ends[1]) if curve.intervals else curve.centre
            found |= {"x": place, "low": place / 1.3, "high": place * 1.3}
            found |= {"bracket_low": ends[0], "bracket_high": ends[1]}
        tables["crossovers"].append(shared | found | {"arm": curve.arm, "reference": curve.reference})


SCHEMAS: dict[str, pa.Schema] = {
    "validities": record.VALIDITIES, "launches": record.LAUNCHES, "ranks": record.RANKS,
    "summary": record.SUMMARY, "ratios": record.RATIOS, "crossovers": record.CROSSOVERS,
    "thresholds": record.THRESHOLDS, "sensitivity": record.SENSITIVITY,
    "choices": record.CHOICES, "pairs": record.PAIRS,
    "claims": record.CLAIMS, "recommendations": record.RECOMMENDATIONS,
}  # fmt: skip


def launch_row(experiment: str, launch: int, hole: str = "", reason: str = "") -> Row:
    return {
        "experiment": experiment, "placement": "node", "outcome": "hole" if hole else "measured", "hole": hole,
        "reason": reason, "file": f"results/raw/quick/{experiment}/node/launch={launch}-0123abcd.0.1.parquet",
        "receipt": f"results/launches/quick/{experiment}/node/{launch}-0123abcd.0.json",
        "started_utc": f"2026-11-2{launch}T10:00:00+00:00", "settings": json.dumps(SETTINGS), "code": "def",
        "commit": "0123456789abcdef", "host": "node-a", "launch": launch, "ranks": 2,
        "wall_seconds": 20.0, "timed_seconds": 0.0 if hole else 13.0,
    }  # fmt: skip


SIZES_BYTES = [100.0, 215, 464, 1000, 2154, 4642, 10000, 21544, 46416, 100000, 215443, 464159, 1000000]


def zmq(protocol: str = "PUSH/PULL over tcp, 64 MB in flight", metric: str = "throughput", **changes: Any) -> Curve:
    settings = {
        "experiment": "zmq_throughput", "unit": "MB/s" if metric == "bandwidth" else "messages/s", "better": "higher",
        "arm": "no-copy", "reference": "copy", "axis": "message size", "axis_unit": "bytes", "points": SIZES_BYTES,
        "rate": 1.2e6, "centre": 6200.0, "slope": 0.13,
    }  # fmt: skip
    return Curve(**(settings | {"protocol": protocol, "metric": metric} | changes))


def steps(*intervals: tuple[float, float], **changes: Any) -> Curve:
    """`zmq` with these intervals of its ratio, at 100 B, 1 kB, 10 kB and so on."""
    points = [100.0 * 10**index for index in range(len(intervals))]
    return zmq(**({"points": points, "intervals": intervals} | changes))


def mpi(**changes: Any) -> Curve:
    settings = {
        "experiment": "mpi_pingpong", "protocol": "float64 array, thread level multiple",
        "metric": "round trip", "unit": "s",
        "better": "lower", "arm": "Send", "reference": "send", "axis": "array length", "axis_unit": "elements",
        "points": [1.0, 10, 100, 1000, 10000, 100000, 1000000], "rate": 3.1e-6, "centre": 2e6, "slope": 0.06,
    }  # fmt: skip
    return Curve(**(settings | changes))


def tasks(metric: str = "submission", **changes: Any) -> Curve:
    settings = {
        "experiment": "task_latency", "protocol": "ipyparallel, hwm 0, 2 engines", "metric": metric, "unit": "tasks/s",
        "better": "higher", "arm": "pure", "reference": "leastload", "axis": "tasks", "axis_unit": "tasks",
        "points": [8.0, 32, 128, 1024], "rate": 600.0, "centre": 100.0, "slope": 0.005, "half_width": 0.6,
    }  # fmt: skip
    return Curve(**(settings | changes))


def near() -> Curve:
    """Tasks whose open points a few more launches would decide."""
    return tasks("round trip", slope=0.1, half_width=0.3)


def lasting(**changes: Any) -> Curve:
    settings = {
        "experiment": "task_map", "protocol": "tasks sleep, equal durations, engines: 2", "unit": "",
        "axis": "task duration", "axis_unit": "µs", "points": [1000.0, 10_000, 100_000], "rate": 0.9,
    }  # fmt: skip
    return tasks("efficiency", **(settings | changes))


def threshold(arm: str, level: float, verdict: str, **changes: Any) -> Row:
    """A row of the thresholds of `lasting`; its places, if the verdict has any, are about 2 ms."""
    places: Row = {"x": 2000.0, "low": 1800.0, "high": 2300.0, "bracket_low": 1000.0, "bracket_high": 10_000.0}
    known = {"from": places, "up to": places, "at the latest": ["bracket_high"], "not yet": ["bracket_low"]}
    curve = lasting()
    return {
        "experiment": curve.experiment, "placement": "node", "protocol": curve.protocol, "metric": curve.metric,
        "axis": curve.axis, "axis_unit": curve.axis_unit, "better": curve.better, "launches": 3, "arm": arm,
        "is_null_arm": arm == "null", "ceiling": False, "level": level, "verdict": verdict, "work": "sleep",
        **{name: places[name] if name in known.get(verdict, ()) else None for name in places}, **changes,
    }  # fmt: skip


def recommendation(**changes: Any) -> Row:
    """A row of the recommendations: a size in bytes from which messages are lent."""
    row: Row = {
        "library": "pyzmq", "setting": "copy_threshold", "about": "the size from which on lending is faster",
        "recommended": True, "value": "14700", "reason": None, "snippet": "socket.copy_threshold = 14700\n",
        "experiment": "zmq_throughput", "placement": "node", "protocol": "PUSH/PULL over tcp, 64 MB in flight",
        "metric": "throughput", "arm": "no-copy", "default": "copy", "axis": "message size", "axis_unit": "bytes",
        "unit": "messages/s", "better": "higher", "launches": 3, "x": 14720.0, "low": 9315.0, "high": 20710.0,
        "guarantee": 1.12, "guarantee_of_values": 1.12, "gain_low": 1.9, "gain_high": 12.6,
        "points": {"copy": [100.0, 1000.0, 1e4], "no-copy": [31623.0, 1e5, 1e6]},
    }  # fmt: skip
    row |= changes
    return row | (label_keys.keys(row["protocol"]) if row["protocol"] else {})


def claim(**changes: Any) -> Row:
    """A row of the claims: measured, and smaller than published."""
    curve = {
        "experiment": "zmq_throughput", "placement": "node", "protocol": "DEALER/ROUTER over ipc, 64 MB in flight",
        "metric": "throughput", "arm": "copy",
    }  # fmt: skip
    row: Row = curve | {
        "claim": "zmq-small-penalty", "source": "pyzmq", "quote": "a *~5x* penalty", "locator": "section 2",
        "url": "https://example.org/a", "says": "Zero-copy costs five times.", "kind": "ratio", "arm": "",
        "verdict": "smaller here", "reason": "it lies outside", "method": "A test.", "unit": "times",
        "scale": "log", "axis_unit": "bytes", "own": "contradicts", "rows": [curve, curve | {"arm": "no"}],
        "launches": 5, "numbers": 1, "value": 2.0, "low": 1.9, "high": 2.1, "expected_low": 3.3, "expected_high": 7.5,
        "published": 5.0, "claimed_low": 5.0, "claimed_high": 5.0, "derived": False, "test": None, "differs": None,
        "contradicts": [], "own_value": 2.3, "own_x": 100.0, "x": 100.0, "smallest_effect": 1.04, "resolution": 1.05,
        "at_least": False, "at_most": False, **columns({}),
    }  # fmt: skip
    assert set(row) == set(record.CLAIMS.names)
    return row | changes


def unmeasured(**changes: Any) -> Row:
    """A claim that this run could not judge."""
    nothing = dict.fromkeys(["value", "low", "high", "smallest_effect", "resolution", "x", "scale", "arm", "at_least"])
    return claim(verdict="not measured", reason="`twisted`: only from tier `standard` on", **nothing, **changes)


KEPT: Row = {
    "recommended": False,
    "reason": "open: no arm is surely better than `copy`",
    **dict.fromkeys(
        ("value", "snippet", "arm", "x", "low", "high", "guarantee", "guarantee_of_values", "gain_low", "gain_high")
    ),
}
"""Changes to a recommendation for a setting that keeps its default."""

TASK_HOLES = [launch_row("task_latency", n, "timeout", "no engine registered within 60 s") for n in (1, 2, 3)]


def two_good_one_hole() -> Campaign:
    curves = [
        zmq(protocol, metric, centre=6200.0 if "tcp" in protocol else 2900.0)
        for protocol in ("PUSH/PULL over tcp, 64 MB in flight", "PUSH/PULL over ipc, 64 MB in flight")
        for metric in ("throughput", "bandwidth", "send rate")
    ]
    told = [recommendation(), recommendation(protocol="PUSH/PULL over ipc, 64 MB in flight", **KEPT)]
    return Campaign([*curves, mpi()], holes=list(TASK_HOLES), estimated={"recommendations": told})


def run(campaign: Campaign) -> Tables:
    """The tables of a campaign that the report reads."""
    return Tables.of(campaign.tables())


def panel(curve: Curve, **changes: Any) -> Panel:
    """The panel of a single curve."""
    return run(Campaign([curve], **changes)).every_panel[0]
