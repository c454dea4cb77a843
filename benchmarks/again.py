"""Whether another run says the same: `make bench-again` runs the tier quick twice, and compares the two.

It keeps the runs in `results/again`: delete that folder to measure again. With two folders of results it compares
these. A rival cell is a point of a question at which an arm is compared with
the reference. It agrees if the two ratios differ by no more than both intervals together allow, in quadrature; with
bias, each run's possible bias widens its interval in the same way. Prints the share of cells that agree for each
experiment, the cells in which one run finds an arm better and the other finds it worse, and the points at which each
run settles on an arm that the other rules out. Nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from crossover.design import experiments
from crossover.records import record

CELL = ["experiment", "placement", "protocol", "metric", "x"]
GOAL = 0.94
"""The least share of cells that should agree without load."""


def measure(folder: Path) -> list[Path]:
    """Make two quick runs one after the other, each in its own folder; returns the two."""
    runs = [folder / str(number) for number in (1, 2)]
    for run in runs:
        workflow = [sys.executable, "-m", "snakemake", "--profile", "profiles/local"]
        if subprocess.run([*workflow, "--config", f"results={run}", "tier=quick"]).returncode:
            sys.exit(f"{run}: the run failed, as said above; correct that, then repeat the command")
    return runs


def read(folder: Path, table: str) -> pd.DataFrame:
    """A table of a run, with the questions of users only."""
    rows = record.read(folder / f"{table}.parquet", record.schemas(table)[table]).to_pandas()
    asked = [
        metric in experiments.of(name).questions
        for name, metric in zip(rows["experiment"], rows["metric"], strict=True)
    ]
    return rows[asked]


def agreement(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """For each experiment the number of rival cells, how many agree without and with bias, and opposite verdicts."""
    both = first.merge(second, on=[*CELL, "arm", "reference"], suffixes=("_1", "_2"))
    both = both[~both["is_null_arm_1"] & ~both["ceiling_1"] & (both["arm"] != both["reference"])]
    logs = {name: np.log(both[name]) for name in both if name.startswith(("ratio_", "low_", "high_", "smallest_"))}
    distance = (logs["ratio_1"] - logs["ratio_2"]).abs()
    width = sum(((logs[f"high_{run}"] - logs[f"low_{run}"]) / 2) ** 2 for run in (1, 2))
    bias = sum(logs[f"smallest_effect_{run}"].fillna(0) ** 2 for run in (1, 2))
    verdicts = both["verdict_1"] + both["verdict_2"]
    cells = both[["experiment"]].assign(
        cells=1,
        agree=distance**2 <= width,
        agree_with_bias=distance**2 <= width + bias,
        decided_twice=both["verdict_1"].isin(["better", "worse"]) & both["verdict_2"].isin(["better", "worse"]),
        opposite=verdicts.isin(["betterworse", "worsebetter"]),
    )
    counts = cells.groupby("experiment").sum()
    counts.loc["all"] = counts.sum()
    return counts


def opposite_choices(first: pd.DataFrame, second: pd.DataFrame) -> list[str]:
    """The points, in words, at which both runs settle on an arm, each ruling out the other's."""
    both = first.merge(second, on=CELL, suffixes=("_1", "_2"))
    both = both[(both["verdict_1"] != "open") & (both["verdict_2"] != "open")]
    return [
        f"{row.experiment}, {row.protocol}, {row.metric}, {row.x:g}: {row.choice_1}, then {row.choice_2}"
        for row in both.itertuples()
        if row.choice_1 not in [row.choice_2, *row.left_2] and row.choice_2 not in [row.choice_1, *row.left_1]
    ]


def main() -> None:
    """Compare two runs, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="*", help="two folders of results; without them, two new runs")
    folders = parser.parse_args().results
    if len(folders) not in (0, 2):
        sys.exit("name two folders of results, or none")
    runs = folders or measure(Path("results/again"))
    cells = agreement(*(read(run, "ratios") for run in runs))
    for name in ("agree", "agree_with_bias"):
        cells[f"{name}_share"] = (cells[name] / cells["cells"]).map("{:.1%}".format)
    print(cells.to_string())
    print(f"goal: {GOAL:.0%} agree without load")
    choices = [read(run, "choices") for run in runs]
    opposite = opposite_choices(*choices)
    print(f"opposite choices: {len(opposite)} of {len(choices[0])} points", *opposite, sep="\n  ")


if __name__ == "__main__":
    main()
