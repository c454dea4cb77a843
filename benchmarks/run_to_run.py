"""Variation from run to run of our ratio and of that of pyzmq's own script: `make bench-runs`.

Both measure zero-copy throughput / copying throughput, DEALER to ROUTER over ipc. pyzmq's script measures each size in
one process, copying first and then zero-copy, and takes the mean of one to three runs of each. Ours makes as many whole
launches as fit into the same wall time, start and end included, and takes ratios and intervals from the analysis. The
two take turns, in random order.

Prints both ratios; ours over theirs, of the ratio and of the messages/s of either arm, with intervals over turns; the
standard deviations over runs of the logarithms of the ratios; and how often our intervals contain the value that all
our runs together give. The interval of the median is a bootstrap over turns. Nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyzmq_perf
from side_by_side import HERE, PUBLISHED, ZEROMQ, launched, other, workshop

from crossover.analyse.estimates.curve import blocks, curves, medians
from crossover.analyse.estimates.intervals import Estimate, Floats, estimate
from crossover.workflow import session

SIZES_BYTES = [100, 1_000, 10_000, 100_000, 1_000_000]
WANTED_LAUNCHES = 5
START_SECONDS = 2
"""Roughly the time of a launch beyond its budget."""
AS_LONG = {"burst_bytes": 8_000_000_000, "rounds": {"at_least": 3, "at_most": 3}}
SECONDS_PER_SIZE = 1.2
"""The smallest budget of a launch per size: enough for calibration and ten rounds."""
RESAMPLES = 10_000
ARMS = ("copy", "no-copy")
LAUNCH = ZEROMQ | {"curves": [PUBLISHED], "arms": list(ARMS), "ceilings": []}
Found = TypeVar("Found")


class Run(NamedTuple):
    """A run of ours. All values are logarithms."""

    ratio: Estimate
    """Zero-copy / copy, by size."""
    rates: Floats
    """Messages/s, of shape (ARMS, sizes)."""


def ours(sizes: list[int], bursts: dict[str, Any], fewest: int, seconds: float) -> Run:
    """A run of ours of about so many seconds, and of at least `fewest` launches."""
    budget = max(seconds / WANTED_LAUNCHES - START_SECONDS, SECONDS_PER_SIZE * len(sizes))
    changes = LAUNCH | bursts | {"sizes_bytes": sizes, "budget_seconds": budget}
    measured: list[pa.Table] = []
    began = perf_counter()
    # Start another launch only if one of the mean length so far still fits.
    while (number := len(measured)) < fewest or (perf_counter() - began) * (number + 1) / number < seconds:
        table = launched("zmq_throughput", changes)
        at = table.schema.get_field_index("launch")
        field = table.schema.field(at)
        measured.append(table.set_column(at, field, pa.array([number + 1] * len(table), field.type)))
    found: pd.DataFrame = medians(blocks(pa.concat_tables(measured)))
    arms = {curve.facts["arm"]: curve for curve in curves(found) if curve.facts["metric"] == "throughput"}
    return Run(estimate(arms["no-copy"].ratios), np.array([arms[arm].values.mean(axis=0) for arm in ARMS]))


def theirs(scripts: Path, shortest: float, points: Sequence[str]) -> dict[int, list[float]]:
    """A run of theirs: by size messages/s of both ARMS, and with how many messages each of them began."""
    command = [sys.executable, str(HERE / "pyzmq_collect.py"), str(scripts), str(shortest), *points]
    return other(*command)


def timed(run: Callable[[], Found]) -> tuple[float, Found]:
    """The seconds that `run` takes, and its result."""
    began = perf_counter()
    found = run()
    return perf_counter() - began, found


def spread(values: Floats) -> Floats:
    """Standard deviation over runs, of shape (..., runs, sizes)."""
    return np.asarray(values.std(axis=-2, ddof=1))


def main() -> None:
    """Let both take turns; print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10, help="runs of each (default: %(default)s)")
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        default=SIZES_BYTES,
        metavar="BYTES",
        help="message sizes, rising (default: %(default)s)",
    )
    parser.add_argument(
        "--shortest-seconds",
        type=float,
        default=1,
        metavar="SECONDS",
        help="pyzmq's script discards runs that are shorter, and stops after one that is three times as long "
        "(default: %(default)s, as in the script)",
    )
    parser.add_argument(
        "--burst-seconds",
        type=float,
        default=0.5,
        metavar="SECONDS",
        help="the length of our bursts; from 1 on, each cell has three rounds, and bursts are not limited in "
        "bytes, like the script's (default: %(default)s)",
    )
    parser.add_argument(
        "--launches",
        type=int,
        default=3,
        metavar="NUMBER",
        help="a run of ours has at least so many launches; one gives no interval, but more runs in the same time "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--warm",
        action="store_true",
        help="let one process receive all of the script's runs, over one connection",
    )
    chosen = parser.parse_args()
    shortest = chosen.shortest_seconds
    bursts = {"burst_seconds": chosen.burst_seconds} | (AS_LONG if chosen.burst_seconds >= 1 else {})
    scripts = pyzmq_perf.fetched(workshop())
    # Their first run does not count: it searches for the numbers of messages.
    counts = theirs(scripts, shortest, list(map(str, chosen.sizes)))
    points = [f"{size}:{copying:.0f}:{lending:.0f}" for size, (*_, copying, lending) in counts.items()]
    published: list[tuple[float, dict[int, list[float]]]] = []
    mine: list[tuple[float, Run]] = []
    if chosen.warm:
        points.append("--warm")
    try:
        for turn in range(1, chosen.runs + 1):
            # In the first turn ours is second, because it lasts as long as their mean run so far.
            for own in random.sample([True, False], 2) if published else (False, True):
                if own:
                    seconds = statistics.mean(lasted for lasted, _ in published)
                    mine.append(timed(partial(ours, chosen.sizes, bursts, chosen.launches, seconds)))
                else:
                    published.append(timed(partial(theirs, scripts, shortest, points)))
            print(f"turn {turn} of {chosen.runs}", file=sys.stderr)
    except KeyboardInterrupt:
        print(f"stopped after {len(mine)} runs of ours and {len(published)} of theirs", file=sys.stderr)
    whole = min(len(mine), len(published))
    if whole > 2:
        report(chosen.sizes, mine[:whole], published[:whole])


def report(sizes: list[int], mine: list[tuple[float, Run]], theirs: list[tuple[float, dict[int, list[float]]]]) -> None:
    """Print what came out."""
    # Of shape (runs, ARMS, sizes).
    their_rates = np.log([[[found[size][arm] for size in sizes] for arm in range(len(ARMS))] for _, found in theirs])
    published = their_rates[:, 1] - their_rates[:, 0]
    means = np.array([run.ratio.mean for _, run in mine])
    pooled = means.mean(axis=0)
    held = np.array([(run.ratio.low <= pooled) & (pooled <= run.ratio.high) for _, run in mine])
    ours_spread, their_spread = spread(means), spread(published)
    over = {"ratio": estimate(means - published)} | {
        arm: estimate(np.array([run.rates[number] for _, run in mine]) - their_rates[:, number])
        for number, arm in enumerate(ARMS)
    }
    for at, size in enumerate(sizes):
        print(
            f"  {size:>9,} bytes: zero-copy / copy {np.exp(pooled[at]):.2f}, theirs "
            f"{np.exp(published[:, at].mean()):.2f}; ours / theirs: "
            + "; ".join(
                f"{name} {np.exp(each.mean[at]):.3f} [{np.exp(each.low[at]):.3f}, {np.exp(each.high[at]):.3f}]"
                for name, each in over.items()
            )
            + f"; run to run {ours_spread[at]:.1%}, theirs {their_spread[at]:.1%}; "
            f"{held[:, at].sum()} of {len(mine)} intervals hold {np.exp(pooled[at]):.2f}"
        )
    turns = np.random.default_rng(1).integers(len(mine), size=(RESAMPLES, len(mine)))
    # A resample of one turn only has no spread.
    turns = turns[(turns != turns[:, :1]).any(axis=1)]
    again = np.median(spread(means[turns]) / spread(published[turns]), axis=1)
    low, high = np.quantile(again, [0.025, 0.975])
    ratio = np.median(ours_spread / their_spread)
    print(f"our spread / theirs, median over sizes: {ratio:.2f} [{low:.2f}, {high:.2f}]")
    print(f"our intervals that hold the value of all our runs: {held.sum()} of {held.size} ({held.mean():.0%})")
    seconds = [statistics.mean(lasted for lasted, _ in runs) for runs in (mine, theirs)]
    print(f"a run of ours lasted {seconds[0]:.1f} s, one of theirs {seconds[1]:.1f} s")


if __name__ == "__main__":
    session.expose()
    main()
