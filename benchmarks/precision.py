"""Precision of whole runs of two commits, and the questions that they decide: `make bench-precision`.

The commits take turns. Each turn clones one and times `make report` there, set-up included. Then it
prints, for the new and the old commit, medians over turns of: the wall time; the number of decided claims, of open
crossovers and of recommended settings; the share of all axes at which ratios are known. For each experiment and for
all, it prints half the widths of the intervals of log ratios, in the median cell of those that both measure, and the
new ones divided by the old ones.

Nothing here passes or fails. A run takes seven minutes, so three turns of both take three quarters of an hour.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd

from crossover.experiments import leads
from crossover.report.base import tables
from crossover.report.base.tables import Tables
from crossover.report.sentences.winners import known_share, pairs

READ = ("launches", "summary", "ratios", "crossovers", "sensitivity")
PROJECT = Path(__file__).resolve().parents[1]
CELL = ["experiment", "placement", "protocol", "metric", "arm", "x"]


@dataclass(frozen=True)
class Run:
    """One run of a commit."""

    seconds: float
    widths: pd.Series
    """Half the width of each interval of a rival's log ratio, indexed by CELL."""
    counts: dict[str, int]


def measured(commit: str, kept: Path | None, name: str) -> Run:
    """Measure this machine with a commit, from nothing. With `kept`, the results stay in that folder under `name`."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", "--no-checkout", PROJECT, clone], check=True)
        subprocess.run(["git", "-C", clone, "checkout", "--quiet", "--detach", commit], check=True)
        # The clone's own .venv, not this one.
        outside = {key: text for key, text in os.environ.items() if key != "VIRTUAL_ENV" and not key.startswith("MAKE")}
        began = perf_counter()
        with (clone / "report.log").open("w", encoding="utf-8") as log:
            subprocess.run(["make", "report"], cwd=clone, env=outside, stdout=log, stderr=log, check=True)
        seconds = perf_counter() - began
        if kept:
            shutil.copytree(clone / "results", kept / name)
            shutil.copy(clone / "report.log", kept / name / "report.log")
        return read(clone / "results", seconds)


def read(results: Path, seconds: float) -> Run:
    """The widths and counts of a finished run."""
    ratios = pd.read_parquet(results / "ratios.parquet")
    rivals = ratios[ratios["low"].notna() & ~ratios["null"] & ~ratios["ceiling"]].set_index(CELL)
    claims = pd.read_parquet(results / "claims.parquet")["verdict"]
    crossovers = pd.read_parquet(results / "crossovers.parquet")["verdict"]
    settings = pd.read_parquet(results / "recommendations.parquet")["recommended"]
    counts = {
        "claims decided": int(claims.isin(["holds", "refuted"]).sum()),
        "claims not measured": int((claims == "not measured").sum()),
        "claims": len(claims),
        # Earlier releases called them undecided, and alike arms too.
        "crossovers open or alike": int(crossovers.isin(["open", "alike", "undecided"]).sum()),
        "crossovers": len(crossovers),
        "settings recommended": int(settings.sum()),
        "settings": len(settings),
        "% of all axes known": round(100 * known(results)),
    }
    return Run(seconds, np.log(rivals["high"] / rivals["low"]) / 2, counts)


def known(results: Path) -> float:
    """The share of all axes at which the ratio is known, also for a run of a release that did not compute it."""
    found = Tables(*([] for _ in range(5)))
    rows = {name: tables.harmless(pd.read_parquet(results / f"{name}.parquet").to_dict("records")) for name in READ}
    place = ("experiment", "placement", "metric")
    bias = {tuple(row[name] for name in place): row["smallest_effect"] for row in rows["sensitivity"]}
    for row in rows["ratios"]:
        row["smallest_effect"] = bias.get(tuple(row[name] for name in place))
        row.setdefault("verdict", None)
    found = replace(found, **{name: rows[name] for name in READ if name != "sensitivity"})
    return known_share(pairs(found.all_leading(leads())))


def report(old: Sequence[Run], new: Sequence[Run]) -> None:
    """Print the comparison."""

    def line(name: str, before: float, after: float, ratio: bool = False) -> None:
        print(f"{name:24}{before:10.3g}{after:10.3g}" + (f"{after / before:10.2f}" if ratio else ""), flush=True)

    print(f"{'':24}{'old':>10}{'new':>10}{'new / old':>10}")
    line("wall time, s", *(statistics.median(run.seconds for run in runs) for runs in (old, new)), ratio=True)
    for name in old[0].counts:
        line(name, *(statistics.median(run.counts[name] for run in runs) for runs in (old, new)))
    before, after = (pd.concat([run.widths for run in runs], axis=1).median(axis=1) for runs in (old, new))
    both = pd.DataFrame({"old": before, "new": after}).dropna()
    print("half widths of log ratios, median cell")
    for experiment, own in [*both.groupby("experiment"), ("all", both)]:
        line(f"  {experiment} ({len(own)})", own["old"].median(), own["new"].median(), ratio=True)


def main() -> None:
    """Measure both commits in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", help="commit, such as HEAD~10")
    parser.add_argument("new", nargs="?", default="HEAD", help="commit (default: HEAD)")
    parser.add_argument("--turns", type=int, default=3, help="runs of each commit (default: 3)")
    parser.add_argument("--keep", type=Path, help="folder that gets the results of every run")
    chosen = parser.parse_args()
    old: list[Run] = []
    new: list[Run] = []
    for turn in range(1, chosen.turns + 1):
        old.append(measured(chosen.old, chosen.keep, f"old_{turn}"))
        new.append(measured(chosen.new, chosen.keep, f"new_{turn}"))
        print(f"after {turn} of {chosen.turns} turns")
        report(old, new)


if __name__ == "__main__":
    main()
