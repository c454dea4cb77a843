"""How far our ratio and that of pyzmq's own script vary from one run to the next: `make bench-runs`.

What is asked is the same of both: zero-copy throughput over copying throughput, DEALER to ROUTER over ipc. pyzmq's
script measures in one process each size's copying first and then its zero-copy, and takes the mean of one to three
counts. A run of ours is as many launches as fit into the same wall time, start and end included, through the whole
of the launch code, and its ratios and intervals are those of the analysis. The two take turns, in random order.

Printed are, over runs, the standard deviations of the logarithms of both ratios, and how often our intervals hold the
value that all our runs together give. The interval of the median is a bootstrap over turns. Nothing here passes or
fails.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyzmq_perf
from side_by_side import HERE, PUBLISHED, ZEROMQ, launched, other, workshop

from crossover import session
from crossover.analyse.curves import curves
from crossover.analyse.medians import medians
from crossover.analyse.statistics import Estimate, Floats, estimate

SIZES_BYTES = (100, 1_000, 10_000, 100_000, 1_000_000)
LAUNCH = ZEROMQ | {
    "sizes_bytes": list(SIZES_BYTES),
    "curves": [PUBLISHED],
    "arms": ["copy", "no-copy"],
    "ceilings": [],
    "budget_seconds": 3,
}
FEWEST_LAUNCHES = 3
RESAMPLES = 10_000
Found = TypeVar("Found")


def ours(launches: int) -> Estimate:
    """A run of ours: logarithms of zero-copy / copy, by size."""
    measured = []
    for number in range(1, launches + 1):
        table = launched("zmq_throughput", LAUNCH)
        at = table.schema.get_field_index("launch")
        field = table.schema.field(at)
        measured.append(table.set_column(at, field, pa.array([number] * len(table), field.type)))
    found: pd.DataFrame = medians(pa.concat_tables(measured))
    (ratios,) = (curve.ratios for curve in curves(found) if curve.facts["metric"] == "throughput" and curve.competes)
    return estimate(ratios)


def theirs(scripts: Path, shortest_seconds: float) -> Floats:
    """A run of theirs, likewise."""
    command = [sys.executable, str(HERE / "pyzmq_collect.py"), str(scripts), str(shortest_seconds)]
    ratios = other(*command, *map(str, SIZES_BYTES))
    return np.log([ratios[size] for size in SIZES_BYTES])


def timed(run: Callable[[], Found]) -> tuple[float, Found]:
    """The seconds that `run` takes, and what it returns."""
    began = perf_counter()
    found = run()
    return perf_counter() - began, found


def spread(values: Floats) -> Floats:
    """Standard deviation over runs, of shape (..., runs, sizes)."""
    return np.asarray(values.std(axis=-2, ddof=1))


def main() -> None:
    """Take turns, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10, help="of each (default: %(default)s)")
    parser.add_argument(
        "--shortest-seconds",
        type=float,
        default=1,
        help="a count of theirs that lasts less is thrown away, one of three times as long ends the search "
        "(default: %(default)s, as in the script)",
    )
    chosen = parser.parse_args()
    scripts = pyzmq_perf.fetched(workshop())
    # A first of each, to be thrown away: what a launch costs, and how many of them a run of theirs lasts.
    launch_seconds, _ = timed(lambda: ours(1))
    run_seconds, _ = timed(lambda: theirs(scripts, chosen.shortest_seconds))
    launches = max(round(run_seconds / launch_seconds), FEWEST_LAUNCHES)

    mine, published, seconds = [], [], {True: [], False: []}
    for turn in range(1, chosen.runs + 1):
        for own in random.sample([True, False], 2):
            if own:
                lasted, found = timed(lambda: ours(launches))
                mine.append(found)
            else:
                lasted, ratios = timed(lambda: theirs(scripts, chosen.shortest_seconds))
                published.append(ratios)
            seconds[own].append(lasted)
        print(f"turn {turn} of {chosen.runs}", file=sys.stderr)
    report(mine, np.array(published))
    print(f"a run of {launches} launches of ours: {statistics.mean(seconds[True]):.1f} s, one of theirs: ", end="")
    print(f"{statistics.mean(seconds[False]):.1f} s")


def report(mine: list[Estimate], published: Floats) -> None:
    """Print what came out, `published` being of shape (runs, sizes)."""
    means = np.array([run.mean for run in mine])
    pooled = means.mean(axis=0)
    held = np.array([(run.low <= pooled) & (pooled <= run.high) for run in mine])
    ours_spread, their_spread = spread(means), spread(published)
    for at, size in enumerate(SIZES_BYTES):
        print(
            f"  {size:>9,} bytes: zero-copy / copy {np.exp(pooled[at]):.2f}, theirs "
            f"{np.exp(published[:, at].mean()):.2f}; run to run {ours_spread[at]:.1%}, theirs {their_spread[at]:.1%}; "
            f"{held[:, at].sum()} of {len(mine)} intervals hold {np.exp(pooled[at]):.2f}"
        )
    turns = np.random.default_rng(1).integers(len(mine), size=(RESAMPLES, len(mine)))
    again = np.median(spread(means[turns]) / spread(published[turns]), axis=1)
    low, high = np.quantile(again, [0.025, 0.975])
    ratio = np.median(ours_spread / their_spread)
    print(f"our spread / theirs, median over sizes: {ratio:.2f} [{low:.2f}, {high:.2f}]")
    print(f"our intervals that hold the value of all our runs: {held.sum()} of {held.size} ({held.mean():.0%})")


if __name__ == "__main__":
    session.expose()
    main()
