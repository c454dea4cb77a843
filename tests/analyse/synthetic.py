"""Campaigns whose truth is known: the noise that was seen on real machines, around a curve of our choice."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa

from crossover import record

SIZES = np.logspace(2, 6, 13).round()
"""An axis of 13 cells, 100 B to 1 MB."""


def blocks(random, truth, launches, rounds=10, launch_sd=0.03, cell_sd=0.02):
    """Seconds per message of shape (arms, launches, cells, rounds), the reference first, then an arm slower by
    exp(`truth`), of shape (cells,).

    Every launch shifts each arm as a whole (3 %) and in every cell (2 %). Blocks have heavy tails, one in
    twenty is slowed by 30 %, and the machine drifts by 30 % in the course of each cell, under both arms.
    """
    shape = (2, launches, len(truth), rounds)
    log = np.stack([np.zeros_like(truth), truth])[:, np.newaxis, :, np.newaxis]
    log = log + launch_sd * random.standard_normal((2, launches, 1, 1))
    log = log + cell_sd * random.standard_normal((2, launches, len(truth), 1))
    log = log + 0.03 * random.standard_t(3, shape)
    log = log + np.log(1.3) * (random.random(shape) < 0.05)
    log = log + np.log(1.3) * np.linspace(0, 1, rounds)
    return 1e-6 * np.exp(log)


def campaign(random, truth, launches, **noise):
    """The launch medians of log ratios, shape (launches, cells), of a campaign made by `blocks`."""
    reference, arm = np.log(blocks(random, np.asarray(truth), launches, **noise))
    return np.median(arm - reference, axis=2)


def rows(values, experiment="zmq_throughput", protocol="tcp", launch=1, sizes=SIZES):
    """Rows of measurements of one launch, from `values` {arm: (cells, rounds)}; NaN makes a block insane.

    The first arm is the reference.
    """
    reference = next(iter(values))
    return [
        {
            "experiment": experiment,
            "placement": "node",
            "protocol": protocol,
            "arm": arm,
            "runs": reference if arm == "null" else arm,
            "reference": reference,
            "axis": "message size",
            "axis_unit": "B",
            "metric": "per message",
            "unit": "s",
            "better": "lower",
            "levels": "[]",
            "validity": "lost messages" if np.isnan(value) else "ok",
            "stop": "rounds",
            "launch": launch,
            "round": number,
            "position": position,
            "n": 1000,
            "start_ns": int(size) * 1000 + number,
            "x": float(size),
            "value": None if np.isnan(value) else float(value),
            "block_seconds": 0.01,
            "null": arm == "null",
            "ceiling": arm == "C",
        }
        for position, (arm, cells) in enumerate(values.items())
        for size, series in zip(sizes, np.asarray(cells, float), strict=True)
        for number, value in enumerate(series)
    ]


def raw(
    path: Path, measured, experiment="zmq_throughput", launch=1, hosts=("alpha", "alpha"), libraries=None, **told
) -> Path:
    """Write a raw file as a launch leaves it; without rows it is a hole."""
    facts = {
        "experiment": experiment,
        "placement": "node",
        "launch": launch,
        "outcome": "measured" if measured else "hole",
        "host": hosts[0],
        "ranks": len(hosts),
        "wall_seconds": 12,
    }
    rank = {"cpu": "Imaginary 9000", "libraries": json.dumps(libraries or {})}
    ranks = [{"rank": number, "host": host} | rank for number, host in enumerate(hosts) if measured]
    table = pa.Table.from_pylist(measured, record.MEASUREMENTS)
    record.write(table, path, {"launch": facts | told, "ranks": ranks})
    return path
