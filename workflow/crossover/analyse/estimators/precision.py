"""Plans the next run: the sources of a ratio's noise, and the launches and rounds that reach a target width.

More launches help if launches disagree, more rounds if rounds do; the cheapest pair depends on the costs of both
(docs/data.md, "Planning the next run").
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from crossover.analyse.curves.curve import Row, competes
from crossover.analyse.curves.rounds import Blocks
from crossover.analyse.statistics.intervals import Floats
from crossover.design.settings import read_settings
from crossover.planning.plan import SECOND_SWEEP
from crossover.records.record import CONFIDENCE

BATCH = 5
"""Rounds in a batch, whose median shows how far rounds disagree; half the rounds if a launch has fewer than ten."""

FAR = 3.0
"""Rounds are clipped to this many standard deviations in the estimate of the order's effect."""

LAUNCHES = np.unique(np.geomspace(3, 1e6, 600).round())
"""The launches and rounds that a plan can have: below three an interval says little; large numbers only show that."""


@dataclass(frozen=True)
class Target:
    """The target precision of the launches in one placement."""

    half_width: float
    """Half the width of an interval, in logarithms."""
    fewest_rounds: int
    most_rounds: int


@dataclass(frozen=True)
class Spread:
    """Variances of the logarithm of one round's ratio, averaged over the cells of a curve."""

    launch: float
    """Variance between launches, with that of rounds if no launch has two. NaN if no two launches share a cell."""
    round: float
    """Variance between rounds within a launch."""
    order: float
    """The part of the variance between rounds that comes from the blocks' positions in their round."""


@dataclass(frozen=True)
class Cost:
    """Seconds of one launch, on average; NaN if unknown."""

    launch_seconds: float
    """Apart from its rounds."""
    round_seconds: float
    """One round of every cell."""


def targets(launches: Iterable[Row]) -> dict[str, Target]:
    """The target of each placement, from rows of record.LAUNCHES; placements without a recorded target are left out."""
    found = {}
    for row in launches:
        settings = read_settings(row["settings"])
        if "target_width" in settings:
            rounds = settings["rounds"]
            width = float(np.log1p(settings["target_width"]))
            fewest = settings.get("fewest_rounds", rounds["at_least"])
            found[row["placement"]] = Target(width, fewest, rounds["at_most"])
    return found


def needs(blocks: Blocks, launches: Sequence[Row]) -> Iterator[Row]:
    """The row of record.NEEDS of each competing curve that has ratios; `launches` are rows of record.LAUNCHES."""
    # Launches of a second sweep measure only a few cells, at another cost.
    swept = blocks.series[blocks.series["launch"] <= SECOND_SWEEP]
    blocks = replace(blocks, series=swept, rows=blocks.rows[blocks.rows["series"].isin(swept.index)])
    rows = blocks.rows.dropna(subset="ratio")
    series = swept.join(_within(rows), how="inner")
    every: dict[Any, Row] = blocks.curves.to_dict("index")  # type: ignore[assignment]
    orders, wanted, costs = _orders(rows, series), targets(launches), _costs(blocks, launches)
    for number, own in series.groupby("curve"):
        facts = every[number]
        if not competes(facts):
            continue
        spread = _spread(own, orders[number])
        parts = {"launch": spread.launch, "round": spread.round - spread.order, "order": spread.order}
        total = sum(parts.values()) if own["rounds"].max() > 1 else 0.0
        behind = own.groupby("x")["launch"].nunique()
        launches_now, rounds_now = int(behind.median()), int(own["rounds"].median())
        target = wanted.get(facts["placement"], Target(np.nan, 1, 1))
        cost = costs.get(facts["placement"], Cost(np.nan, np.nan))
        yield facts | {
            **{f"{name}_share": part / total if total else np.nan for name, part in parts.items()},
            "launches": launches_now,
            "cells": len(behind),
            "rounds": rounds_now,
            **asdict(cost),
            "half_width": np.expm1(half_width(spread, launches_now, rounds_now)) if launches_now > 1 else np.nan,
            "wanted": np.expm1(target.half_width),
            **plan(spread, cost, target),
        }


def half_width(spread: Spread, launches: int | Floats, rounds: int | Floats) -> Floats:
    """The expected half-width of an interval, in logarithms."""
    variance = (spread.launch + spread.round / np.asarray(rounds)) / np.asarray(launches)
    return np.asarray(stdtrit(np.asarray(launches) - 1.0, (1 + CONFIDENCE) / 2) * np.sqrt(variance))


def plan(spread: Spread, cost: Cost, target: Target) -> Row:
    """The cheapest launches and rounds that are expected to reach the target, and their seconds, as columns.

    Without known costs, the fewest launches, and NaN seconds. Empty if the spread or the target is unknown.
    """
    spare = LAUNCHES * (target.half_width / stdtrit(LAUNCHES - 1, (1 + CONFIDENCE) / 2)) ** 2 - spread.launch
    with np.errstate(divide="ignore", invalid="ignore"):
        rounds = np.maximum(np.ceil(spread.round / spare), target.fewest_rounds)
    possible = (spare > 0) & (rounds <= target.most_rounds)
    if not possible.any():
        return {}
    launches, rounds = LAUNCHES[possible], rounds[possible]
    seconds = launches * (cost.launch_seconds + rounds * cost.round_seconds)
    best = int(np.argmin(seconds)) if np.isfinite(seconds).all() else 0
    numbers = int(launches[best]), int(rounds[best]), float(seconds[best])
    return dict(zip(("launches_needed", "rounds_needed", "seconds_needed"), numbers, strict=True))


def _within(rows: pd.DataFrame) -> pd.DataFrame:
    """For each series: its median, its rounds, and a round's variance (that of batches' medians, times their size)."""
    found = pd.DataFrame(rows.groupby("series")["ratio"].agg(median="median", rounds="size"))
    size = (found["rounds"] // 2).clip(1, BATCH)
    batch = rows.groupby("series").cumcount() // rows["series"].map(size)
    whole = batch < rows["series"].map(found["rounds"] // size)
    medians = rows[whole].groupby(["series", batch[whole]])["ratio"].median()
    return found.assign(variance=size * medians.groupby(level=0).var())


def _spread(series: pd.DataFrame, order: float) -> Spread:
    # Of launches of one round, only the sum of both variances is known.
    round_ = series["variance"].mean() if series["rounds"].max() > 1 else 0.0
    between = series.groupby("x")["median"].var().mean()
    launch = max(0.0, between - round_ * (1 / series["rounds"]).mean())
    return Spread(launch if np.isfinite(between) and np.isfinite(round_) else np.nan, round_, order * round_)


def _orders(rows: pd.DataFrame, series: pd.DataFrame) -> dict[Any, float]:
    """For each curve, the share of the rounds' variance explained by the positions of the two blocks of a ratio."""
    away = rows["ratio"] - rows["series"].map(series["median"])
    noise = 1.4826 * away.abs().groupby(rows["series"]).median()
    z = (away / rows["series"].map(noise)).replace([np.inf, -np.inf], np.nan).clip(-FAR, FAR)
    known = pd.DataFrame({"z": z, "here": rows["position"], "there": rows["opposite"]})[z.notna()]
    of_curve = rows["series"].map(series["curve"])[z.notna()]
    shares = {number: _explained(*(own[name].to_numpy() for name in known)) for number, own in known.groupby(of_curve)}
    return dict.fromkeys(series["curve"], 0.0) | shares


def _explained(z: Floats, here: Floats, there: Floats) -> float:
    """The share of the variance of `z` explained by an effect of each position; `z` is a difference of two of them.

    Least squares, corrected for the share that as many effects explain by chance (adjusted R^2). The effects are the
    same along a curve, in units of the noise.
    """
    here, there = here.astype(int), there.astype(int)
    places = int(max(here.max(), there.max())) + 1
    met = np.bincount(here * places + there, minlength=places**2).reshape(places, places)
    met = met + met.T
    pushed = np.bincount(here, z, places) - np.bincount(there, z, places)
    effects, _, rank, _ = np.linalg.lstsq(np.diag(met.sum(axis=1)) - met, pushed)
    total, explained = float((z**2).sum()), float(effects @ pushed)
    if len(z) <= rank:
        return 0.0
    chance = rank * (total - explained) / (len(z) - rank)
    return float(max(0.0, (explained - chance) / total))


def _costs(blocks: Blocks, launches: Sequence[Row]) -> dict[str, Cost]:
    """The costs of a launch in each placement, from the time between its rounds."""
    ends = blocks.rows.groupby("series")[["round", "start_ns"]].agg(["first", "last"])
    between = (ends["start_ns", "last"] - ends["start_ns", "first"]) / (ends["round", "last"] - ends["round", "first"])
    series = blocks.series.assign(seconds=between.replace(np.inf, np.nan) / 1e9, rounds=ends["round", "last"] + 1)
    series = series.join(blocks.curves[["placement", "protocol"]], on="curve")
    cells = series.groupby(["placement", "launch", "protocol", "x"])[["seconds", "rounds"]].mean()
    cells["all"] = cells["seconds"] * cells["rounds"]
    spent = cells.groupby(level=["placement", "launch"])[["seconds", "all"]].sum(min_count=1)
    wall = pd.Series({(row["placement"], row["launch"]): row["wall_seconds"] for row in launches}, dtype=float)
    rest = (wall.reindex(spent.index) - spent["all"]).clip(lower=0)
    # Without a second round, the time of the first is part of the rest.
    rest = rest.fillna(wall.reindex(spent.index))
    mean = spent.assign(rest=rest, seconds=spent["seconds"].fillna(0.0)).groupby(level="placement").mean()
    return {str(place): Cost(row["rest"], row["seconds"]) for place, row in mean.iterrows()}
