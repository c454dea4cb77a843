"""Campaigns of known truth: a chosen curve, with noise like that of real machines."""

import json
from pathlib import Path
from typing import Any

import label_keys
import numpy as np
import pyarrow as pa

from crossover.design.settings import canonical, digest
from crossover.planning import receipt
from crossover.planning.receipt import Files
from crossover.records import record

SIZES = np.logspace(2, 6, 13).round()
"""An axis of 13 cells, 100 B to 1 MB."""


NOISES = {
    "launch effects of 1 %": {"launch_sd": 0.01, "cell_sd": 0.01},
    "launch effects of 3 %": {},
    "launch effects of 8 %": {"launch_sd": 0.08},
    "launch effects of 1 to 8 % along the axis": {"launch_sd": np.linspace(0.01, 0.08, len(SIZES))},
    "launch effects that only neighbouring cells share": {"launch_sd": 0.05, "alike": 0.8},
    "heavier tails": {"tails": 2, "block_sd": 0.06, "slowed": 0.2},
    "drift by a factor of two": {"drift": 2},
    "autocorrelated rounds": {"block_sd": 0.05, "lasting": 0.9},
}
"""Kinds of noise, as arguments that replace the defaults of `blocks`."""


def blocks(
    random,
    truth,
    launches,
    rounds=10,
    launch_sd=0.03,
    alike=1.0,
    cell_sd=0.02,
    block_sd=0.03,
    tails=3,
    lasting=0.0,
    slowed=0.05,
    drift=1.3,
):
    """Seconds per message, of shape (arms, launches, cells, rounds): the reference, then an arm that is slower by the
    factor exp(`truth`), of shape (cells,).

    Every launch shifts each arm along the whole axis (by 3 %; `alike` is the correlation between neighbouring cells)
    and in every cell (2 %). Blocks have tails as heavy as Student's t with 3 degrees of freedom; `lasting` is the
    correlation between neighbouring rounds. One block in twenty is 30 % slower. In the course of each cell the machine
    drifts by 30 %, for both arms in the same way, in whatever order they run.
    """
    cells = len(truth)
    shape = (2, launches, cells, rounds)
    log = np.stack([np.zeros_like(truth), truth])[:, np.newaxis, :]
    log = log + launch_sd * _chain(random.standard_normal(shape[:3]), alike)
    log = log + cell_sd * random.standard_normal(shape[:3])
    log = log[..., np.newaxis] + block_sd * _chain(random.standard_t(tails, shape), lasting)
    log = log + np.log(1.3) * (random.random(shape) < slowed)
    second = random.random(shape[1:]) < 0.5
    time = np.arange(rounds) + np.stack([second, ~second]) / 2
    return 1e-6 * np.exp(log + np.log(drift) * time / rounds)


def _chain(noise, correlation):
    """Mix each value along the last axis with the previous one, so that neighbours have this correlation."""
    links = [noise[..., 0]]
    for fresh in np.moveaxis(noise, -1, 0)[1:]:
        links.append(correlation * links[-1] + np.sqrt(1 - correlation**2) * fresh)
    return np.stack(links, axis=-1)


def campaign(random, truth, launches, **noise):
    """The launch medians of log ratios of a campaign from `blocks`, shape (launches, cells)."""
    return campaigns(random, truth, launches, 1, **noise)[0]


def campaigns(random, truth, launches, count, **noise):
    """The same for `count` campaigns, shape (campaigns, launches, cells)."""
    return np.concatenate([ratios for _, _, ratios in arms(random, truth, launches, count, **noise)])


def far_off(random, d):
    """Log ratios `d`, shape (launches, cells), after about half of the launches got one cell that is off by a factor of
    1.6 to 4.5."""
    found = d.copy()
    spoilt = np.flatnonzero(random.random(len(d)) < 0.5)
    off = random.choice([-1, 1], len(spoilt)) * random.uniform(0.5, 1.5, len(spoilt))
    found[spoilt, random.integers(d.shape[1], size=len(spoilt))] += off
    return found


def arms(random, truth, launches, count, **noise):
    """For `count` campaigns, in batches of some hundreds: the launch medians of the logs of the reference, the arm and
    their ratios, each of shape (campaigns, launches, cells)."""
    truth = np.asarray(truth, float)
    for start in range(0, count, 250):
        many = min(250, count - start)
        logs = np.log(blocks(random, truth, many * launches, **noise))
        yield tuple(np.median(each, axis=2).reshape(many, launches, len(truth)) for each in (*logs, logs[1] - logs[0]))


def rows(values, experiment="zmq_throughput", protocol="tcp", launch=1, sizes=SIZES):
    """Rows of measurements of one launch, from `values` {arm: (cells, rounds)}; NaN makes a block invalid.

    The first arm is the reference.
    """
    reference = next(iter(values))
    keys = label_keys.keys(protocol)
    return [
        {
            **keys,
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
            "levels": [],
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
            "is_null_arm": arm == "null",
            "ceiling": arm == "C",
        }
        for position, (arm, cells) in enumerate(values.items())
        for size, series in zip(sizes, np.asarray(cells, float), strict=True)
        for number, value in enumerate(series)
    ]


def settings(facts: dict[str, Any]) -> str:
    """The settings among the facts of a launch, with its placement, as JSON."""
    return canonical(json.loads(facts.get("settings", "{}")) | {"placement": facts["placement"]})


def launched(
    results: Path,
    measured,
    experiment="zmq_throughput",
    launch=1,
    hosts=("alpha", "alpha"),
    libraries=None,
    rank=None,
    **told,
) -> Path:
    """Write a raw file and its receipt like a launch, and return the receipt; without rows it is a hole."""
    facts = {
        "experiment": experiment,
        "placement": "node",
        "launch": launch,
        "outcome": "measured" if measured else "hole",
        "host": hosts[0],
        "ranks": len(hosts),
        "wall_seconds": 12,
    }
    rank = {"cpu": "Imaginary 9000", "libraries": libraries or {}} | (rank or {})
    ranks = [{"rank": number, "host": host} | rank for number, host in enumerate(hosts) if measured]
    table = pa.Table.from_pylist(measured, record.MEASUREMENTS)
    told |= {"settings": settings(facts | told)}
    name = f"{launch}-{digest(json.loads(told['settings']))}.0.json"
    files = Files(results / "launches/quick" / experiment / (facts | told)["placement"] / name)
    stored = files.raw_folder / f"launch={files.path.stem}.1.parquet"
    record.write(table, stored, {"launch": facts | told, "ranks": ranks})
    receipt.write(files, stored, facts | told, ranks)
    return files.path
