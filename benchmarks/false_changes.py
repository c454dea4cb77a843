"""How often `compare` reports a change: where nothing changed, and where an arm became a tenth slower.

    python benchmarks/false_changes.py [RESULTS ...]

Simulated campaigns, whose truth is known; and the launches of finished runs in RESULTS, split at random into two
samples again and again: one machine, one hour, so whatever is found is false. The slowed arm is then that of the second
sample, multiplied. Takes some minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "analyse"))
from synthetic import SIZES, campaign, far_off

from crossover.analyse.compare.change import change
from crossover.analyse.compare.run import read
from crossover.analyse.curves.curve import Curve
from crossover.analyse.statistics.intervals import Floats
from crossover.records.record import SIGNIFICANCE

SLOWER = np.log(1.1)
MOST_A_SIDE = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="*", type=Path, help="folders of results with at least six launches")
    parser.add_argument("--campaigns", type=int, default=2000, help="simulated campaigns (default: %(default)s)")
    parser.add_argument("--splits", type=int, default=40, help="splits of real launches (default: %(default)s)")
    chosen = parser.parse_args()
    for folder in chosen.results:
        _print(("experiment, metric, arm", "a side", "spread", "false", "slowed found"), splits(folder, chosen.splits))
    header = ("launches", "launch effect", "false", "cells covered", "curve covered", "same", "slowed found")
    header += ("false, cells off", "slowed found, cells off")
    _print(header, simulated(chosen.campaigns))


def simulated(campaigns: int) -> Iterator[tuple[str, ...]]:
    """Compare equal runs, then runs of which the second has a slower arm; and both again with single cells far off."""
    for sides in ((3, 3), (5, 5), (3, 5), (3, 10), (10, 10)):
        for launch_sd in (0.01, 0.03, 0.08):
            random = np.random.default_rng(sum(sides))
            told = []
            for _ in range(campaigns):
                before, after = (campaign(random, 0 * SIZES, launches, launch_sd=launch_sd) for launches in sides)
                found = change(before, after)
                spoilt = [far_off(random, d) for d in (before, after)]
                told.append(
                    (
                        found.differs <= SIGNIFICANCE,
                        np.mean((found.cells.low <= 0) & (found.cells.high >= 0)),
                        found.whole.low[0] <= 0 <= found.whole.high[0],
                        found.verdict("lower", SLOWER) == "same",
                        change(before, after + SLOWER).verdict("lower", SLOWER) == "worse",
                        change(*spoilt).differs <= SIGNIFICANCE,
                        change(spoilt[0], spoilt[1] + SLOWER).verdict("lower", SLOWER) == "worse",
                    )
                )
            yield f"{sides[0]} and {sides[1]}", f"{launch_sd:.0%}", *map(_share, np.mean(told, axis=0))


def splits(folder: Path, count: int) -> Iterator[tuple[str, ...]]:
    """Split the launches of each curve in `folder` into two samples, for null arms too."""
    for curve in read(folder, "run").curves.values():
        d = curve.ratios[~np.isnan(curve.ratios).all(axis=1)]
        if len(d) >= 6 and not curve.facts["ceiling"]:
            yield _name(curve), *_split(d, curve.facts["better"], count)


def _split(d: Floats, better: str, count: int) -> tuple[str, ...]:
    random = np.random.default_rng(1)
    side = min(len(d) // 2, MOST_A_SIDE)
    slower, told = -SLOWER if better == "higher" else SLOWER, []
    for _ in range(count):
        order = random.permutation(len(d))
        before, after = d[order[:side]], d[order[side : 2 * side]]
        worse = change(before, after + slower).verdict(better, SLOWER) == "worse"
        told.append((change(before, after).differs <= SIGNIFICANCE, worse))
    false, found = np.sum(told, axis=0)
    spread = np.nanmean(d, axis=1).std(ddof=1)
    return str(side), f"{spread:.1%}", f"{false} of {count}", f"{found} of {count}"


def _name(curve: Curve) -> str:
    return ", ".join(curve.facts[name] for name in ("experiment", "metric", "protocol", "arm"))


def _share(value: float) -> str:
    return f"{value:.1%}"


def _print(header: tuple[str, ...], lines: Iterator[tuple[str, ...]]) -> None:
    print("\n" + " | ".join(header))
    for line in lines:
        print(" | ".join(line), flush=True)


if __name__ == "__main__":
    main()
