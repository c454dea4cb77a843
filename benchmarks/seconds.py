"""The time of each phase of a run, and the points that it settles: `make bench-seconds RUNS="results other-results"`.

For each folder of results and each experiment, prints the launches, their seconds, and how these divide: `start` until
the ranks have met, `ready` until the driver is (sockets, farms), `other` (calibration, what surrounds blocks), `blocks`
of rivals, of the `null` arm and of ceilings, and `end`. Then the share of points that are settled, by all launches and
without the last 1, 2, ... of each group. The tier quick has fewer launches where this share stays, more where it rises.

A second table has the points that take more than LARGE of the run: their share of its seconds, rounds a launch, and
for each metric that is chosen by the verdict and the largest bound; then the same with the first FEW rounds of each
launch alone. Where those settle as much, the tier has fewer rounds.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd
import pyarrow.compute as pc

from crossover.analyse.estimates.choice import Choice, questions
from crossover.analyse.estimates.curve import Curve, blocks, curves, medians
from crossover.records import record, run_tables
from crossover.records.outcome import OPEN

PARTS = {
    "start": ["meeting"],
    "ready": ["connection"],
    "other": ["calibration", "warm-up", "around blocks"],
    "blocks": ["arms"],
    "null": ["null arm", "ceilings"],
}
FEWER = 3
"""Launches of a group that are left out, one after another."""
LARGE = 0.02
FEW = (3, 5, 10)
POINT = ["experiment", "protocol", "x"]


def table(folder: Path, name: str) -> pd.DataFrame:
    """A table of a run, or of all experiments that were run alone."""
    files = [folder / f"{name}.parquet"]
    if not files[0].is_file():
        files = sorted(folder.glob(f"experiments/*/{name}.parquet"))
    return pd.concat(record.read(file, record.schemas(name)[name]).to_pandas() for file in files)


def parts(launches: pd.DataFrame) -> pd.DataFrame:
    """By experiment the launches, their seconds, and the share of each part in percent."""
    seconds = pd.DataFrame([dict(phases or ()) for phases in launches["phases"]], launches.index).fillna(0.0)
    seconds["meeting"], seconds["wall"] = launches["meeting_seconds"], launches["wall_seconds"]
    sums = seconds.groupby(launches["experiment"]).sum()
    sums.loc["all"] = sums.sum()
    shares = pd.DataFrame({"seconds": sums["wall"].round()})
    for part, phases in PARTS.items():
        shares[part] = (100 * sums.reindex(columns=phases, fill_value=0.0).sum(axis=1) / sums["wall"]).round()
    shares["end"] = 100 - shares.drop(columns="seconds").sum(axis=1)
    count = launches.groupby("experiment").size()
    shares.insert(0, "launches", pd.concat([count, pd.Series({"all": count.sum()})]))
    return shares.astype(int)


def settled(every: list[Curve], fewer: int) -> pd.Series:
    """By experiment the share of points that are not open, without the last `fewer` launches of each curve."""
    kept = [curve.of(curve.launches[: len(curve.launches) - fewer]) for curve in every]
    rows = [
        (question.facts["experiment"], choice.verdict != OPEN)
        for question in questions([curve for curve in kept if curve.launches], [])
        for choice in question.choices
    ]
    points = pd.DataFrame(rows, columns=["experiment", "settled"])
    return pd.concat([points.groupby("experiment")["settled"].mean(), pd.Series({"all": points["settled"].mean()})])


def chosen(every: list[Curve]) -> dict[tuple[str, str, float], list[Choice]]:
    """The choices of each point, one for each metric."""
    found: dict[tuple[str, str, float], list[Choice]] = {}
    for question in questions(every, []):
        for choice in question.choices:
            place = (question.facts["experiment"], question.facts["protocol"], float(question.x[choice.cell]))
            found.setdefault(place, []).append(choice)
    return found


def points(folder: Path) -> pd.DataFrame:
    """The points that take more than LARGE of the run, with their verdicts and bounds by all rounds, and by fewer."""
    files = run_tables.raw_files(folder)
    tables = [each for file in files if len(each := record.read(file, record.MEASUREMENTS))]
    rows = pd.concat(
        each.select([*POINT, "placement", "launch", "start_ns", "round"]).to_pandas() for each in tables
    ).drop_duplicates(["experiment", "placement", "launch", "start_ns"])
    rows = rows.sort_values(["experiment", "placement", "launch", "start_ns"])
    after = rows.groupby(["experiment", "placement", "launch"])["start_ns"].shift(-1)
    rows["seconds"] = (after - rows["start_ns"]).fillna(0) / 1e9
    found = rows.groupby(POINT).agg(seconds=("seconds", "sum"), launches=("launch", "nunique"))
    found["rounds"] = rows.groupby([*POINT, "placement", "launch"])["round"].nunique().groupby(POINT).mean()
    found["%"] = 100 * found["seconds"] / table(folder, "launches")["wall_seconds"].sum()
    for few in (None, *FEW):
        kept = [each if few is None else each.filter(pc.less(each["round"], few)) for each in tables]
        choices = chosen([*curves(pd.concat(medians(blocks(each)) for each in kept))])
        found[f"first {few}" if few else "all rounds"] = [
            ", ".join(f"{one.verdict} {one.guarantee:.2f}" for one in choices.get(at, ())) for at in found.index
        ]
    return found[found["%"] > 100 * LARGE].round(1).sort_values("%", ascending=False)


def main() -> None:
    """Print the table of every run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="+", help="folders of results")
    for folder in parser.parse_args().results:
        every = list(curves(table(folder, "medians")))
        lines = parts(table(folder, "launches"))
        for fewer in range(FEWER + 1):
            share = (100 * settled(every, fewer)).round()
            lines[f"settled, {fewer} fewer" if fewer else "settled, %"] = share.reindex(lines.index)
        print(f"{folder}\n{lines.to_string(na_rep='')}\n\n{points(folder).to_string()}\n")


if __name__ == "__main__":
    main()
