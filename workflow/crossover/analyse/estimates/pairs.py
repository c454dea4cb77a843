"""Slow hosts and slow links, from a tournament in which hosts exchange messages in pairs.

A host is compared by its pairs with regular hosts, those without a conspicuous effect of their own. A pair with a slow
host says little about the other end: effects may add, or the slower end may decide. So such pairs are left out, which
is right in both cases as long as fewer than half of a host's opponents are slow. The effect of a link is the rest of
its pair after the effects of both hosts. Here they add: where the slower end decides, a link between two slow hosts
then seems too fast, but no such link is called slow because of its hosts.

The unit of replication is the launch. A few launches say little about the noise of one host, so the variance between
launches is pooled over all hosts, and over all links. One whose own variance does not fit (UNLIKE) keeps its own: a
host that another program slowed in one launch is uncertain, not slow.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.special import fdtrc

from crossover.analyse.estimates.curve import PANEL, Row
from crossover.analyse.estimates.intervals import Estimate, Floats
from crossover.design.protocol import KEYS
from crossover.records.outcome import ALIKE, OPEN, WORSE
from crossover.records.record import SIGNIFICANCE
from crossover.records.rows import Launch

Ints = NDArray[np.intp]

MINIMUM_EFFECT = 0.05
"""The effect up to which hosts and links are alike, where the launches have no setting of this name: 5 % worse."""

OPPONENTS = 3
"""The fewest opponents of a host in a launch for an estimate. So there are at least four hosts."""

CONSPICUOUS = 3 / 0.6745
"""A host is conspicuous if it is farther from the median host than this many median absolute deviations (3 standard
deviations of normal noise) and than the minimum effect."""

UNLIKE = 0.001
"""A variance is not pooled if the F-test against all others has a smaller p-value."""

PASSES = 10
"""The most passes in which regular hosts and effects determine each other. Most launches need one or two."""

PLACE = ["experiment", "placement"]
GROUP = [*PANEL, "runs", "x"]
FACTS = [*PANEL, "axis", "axis_unit", "better", "unit", "x", *KEYS]


Plays = dict[tuple[Any, ...], tuple[Row, pd.DataFrame]]
"""The plays of each group, by its values of GROUP: its columns of FACTS with `arm`, and a row for each launch and pair
of hosts, `host` before `other`: the `log` of the median over rounds, and the number of `rounds` with a value."""


def pairs(played: Iterable[Plays], launches: Iterable[Launch]) -> Iterator[Row]:
    """The rows of record.PAIRS, from the plays of all launches.

    Blocks are grouped by the alternative that ran, so those of the null arm count for its reference. `p` is adjusted
    for all hosts of an experiment and placement, and for all links by themselves: on average at most SIGNIFICANCE of
    those that are called worse are not (Benjamini and Hochberg, J. R. Stat. Soc. B 57 (1995) 289).
    """
    groups: dict[tuple[Any, ...], list[tuple[Row, pd.DataFrame]]] = {}
    for key, group in (item for each in played for item in each.items()):
        groups.setdefault(key, []).append(group)
    minimum = {(each.experiment, each.placement): _minimum_effect(each) for each in launches}
    facts: dict[int, Row] = {}
    parts: list[pd.DataFrame] = []
    for number, key in enumerate(sorted(groups)):
        of_group = facts[number] = groups[key][0][0]
        of_launches = pd.concat([rows for _, rows in groups[key]])
        place = {name: of_group[name] for name in PLACE}
        least = minimum.get(tuple(place.values()), MINIMUM_EFFECT)
        tables = _estimates(of_launches, of_group["better"], np.log1p(least))
        parts += [table.assign(group=number, smallest_effect=1 + least, **place) for table in tables]
    for _, rows in pd.concat(parts).groupby([*PLACE, "of_link"]) if parts else ():
        columns = _judged(rows).drop(columns="of_link").to_dict("list")
        for group, values in zip(columns.pop("group"), zip(*columns.values(), strict=True), strict=True):
            yield facts[group] | dict(zip(map(str, columns), values, strict=True))


def _minimum_effect(launch: Launch) -> float:
    return float((launch.settings or {}).get("minimum_effect", MINIMUM_EFFECT))


def plays(measurements: pa.Table, ranks: pa.Table) -> Plays:
    """The plays of some launches, from tables of record.MEASUREMENTS and record.RANKS; none without rows of pairs."""
    played = measurements.filter(pc.is_valid(measurements["first_rank"]))
    if not played:
        return {}
    frame = played.select([*GROUP, "launch", "first_rank", "second_rank", "value"]).to_pandas()
    frame["group"] = frame.groupby(GROUP).ngroup()
    frame["log"] = np.log(frame["value"].astype(float))
    hosts = ranks.select([*PLACE, "launch", "rank", "host"]).to_pandas().rename(columns={"host": "name"})
    first, second = (
        frame.rename(columns={rank: "rank"}).merge(hosts, how="left")["name"].fillna("").to_numpy()
        for rank in ("first_rank", "second_rank")
    )
    frame = frame.assign(
        row=np.arange(len(frame)),
        host=np.where(first < second, first, second),
        other=np.where(first < second, second, first),
    )
    of_hosts = frame[(frame["host"] != "") & (frame["host"] != frame["other"])]
    by_pair = of_hosts.groupby(["group", "launch", "host", "other"])
    found = by_pair.agg(log=("log", "median"), rounds=("log", "count"), row=("row", "min")).reset_index()
    groups: Plays = {}
    for _, rows in found.groupby("group"):
        facts = played.slice(rows["row"].min(), 1).select([*FACTS, "runs"]).to_pylist()[0]
        key = tuple(facts[name] for name in GROUP)
        facts["arm"] = facts.pop("runs")
        groups[key] = facts, rows.drop(columns=["group", "row"])
    return groups


def _estimates(plays: pd.DataFrame, better: str, least: float) -> Iterator[pd.DataFrame]:
    """The rows of a group's hosts, and those of its pairs, without p-values adjusted and without verdicts.

    `least` is the logarithm of the smallest effect.
    """
    sign = -1 if better == "higher" else 1
    names, ends = np.unique(plays[["host", "other"]].to_numpy(str), return_inverse=True)
    pair, column = np.unique(ends.reshape(-1, 2) @ [len(names), 1], return_inverse=True)
    first, second = np.divmod(pair, len(names))
    numbers, row = np.unique(plays["launch"], return_inverse=True)
    logs = np.full((len(numbers), len(pair)), np.nan)
    rounds = np.zeros(logs.shape, int)
    logs[row, column], rounds[row, column] = sign * plays["log"], plays["rounds"]
    fits = [fit(first, second, launch, len(names), least) for launch in logs]
    effects, medians, links, opponents = (np.stack(part) for part in zip(*fits, strict=True))
    both = np.concatenate([first, second])
    of_hosts = np.stack([np.bincount(both, np.tile(launch, 2), len(names)) for launch in rounds])
    # Beside a slow host of four, three pairs are left, where a slow host looks like a fast pair of the other two.
    enough = np.median(opponents, axis=0) >= OPPONENTS
    yield _rows(names, None, sign * medians, of_hosts, over_launches(effects), least, enough)
    # Those that played, whether with a value or not.
    present = [len(np.unique([first[column[row == one]], second[column[row == one]]])) for one in range(len(numbers))]
    fewest = min(present)
    if fewest <= OPPONENTS or any(n * (n - 1) != 2 * (row == one).sum() for one, n in enumerate(present)):
        links = np.full_like(links, np.nan)
    # The fit hides a part of the noise of a pair in its two hosts, about 2 / (hosts - 1).
    estimate = over_launches(links)
    estimate = replace(estimate, error=estimate.error * (fewest - 1) / max(fewest - 3, 1))
    yield _rows(names[first], names[second], sign * logs, rounds, estimate, least)


def _rows(
    host: NDArray[np.str_],
    other: NDArray[np.str_] | None,
    logs: Floats,
    rounds: Ints,
    estimate: Estimate,
    least: float,
    enough: NDArray[np.bool_] | bool = True,
) -> pd.DataFrame:
    """The rows of hosts or links that have a value; `logs` and `rounds` have the shape (launches, rows).

    None is called worse without `enough` regular opponents.
    """
    behind = ~np.isnan(logs)
    frame = pd.DataFrame(
        {
            "of_link": other is not None,
            "host": host,
            "other": other,
            "value": np.exp(np.nansum(logs, axis=0) / np.maximum(behind.sum(axis=0), 1)),
            "factor": np.exp(estimate.mean),
            "low": np.exp(estimate.low),
            "high": np.exp(estimate.high),
            "p": np.where(np.isnan(estimate.error), np.nan, np.where(enough, estimate.p_outside(least, np.inf), 1.0)),
            "launches": behind.sum(axis=0),
            "rounds": rounds.sum(axis=0),
        }
    )
    return frame.iloc[np.flatnonzero(behind.any(axis=0))]


def _judged(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with their verdicts and adjusted p-values. A host is worse only if its shown interval says so too."""
    # It loads slowly, and other experiments need none of it.
    from scipy.stats import false_discovery_control

    tested = rows["p"].notna()
    p = rows["p"].copy()
    p[tested] = false_discovery_control(p[tested])
    worse = (p <= SIGNIFICANCE) & (rows["low"] > rows["smallest_effect"])
    alike = rows["high"] < rows["smallest_effect"]
    return rows.assign(p=p, verdict=np.select([worse, alike], [WORSE, ALIKE], OPEN))


def fit(first: Ints, second: Ints, y: Floats, hosts: int, least: float) -> tuple[Floats, Floats, Floats, Ints]:
    """The effects of hosts, the medians over each host's pairs, the effects of links, and the number of each host's
    regular opponents, of one launch.

    `y` has the logarithm of each pair, larger is worse, NaN without a value; `first` and `second` have the numbers of
    its hosts, below `hosts`. The results have the shapes (hosts,), (hosts,), (pairs,) and (hosts,). An effect is NaN
    where a host has fewer than OPPONENTS, or no pair with a regular host, and where no others are left to compare with.
    """
    known = ~np.isnan(y)
    if not known.any():
        return np.full(hosts, np.nan), np.full(hosts, np.nan), y, np.zeros(hosts, int)
    host, opponent = np.concatenate([[first, second], [second, first]], axis=1)[:, np.tile(known, 2)]
    order = np.argsort(host, kind="stable")
    count = np.bincount(host, minlength=hosts)
    at = host[order], np.arange(len(host)) - np.repeat(np.cumsum(count) - count, count)
    # A line for each host, with a column for each of its pairs.
    table, opponents = np.full((hosts, count.max()), np.nan), np.zeros((hosts, count.max()), int)
    table[at], opponents[at] = np.tile(y[known], 2)[order], opponent[order]
    medians, regular = _row_medians(table), np.ones(hosts, bool)
    heights = medians - np.nanmedian(medians)
    for _ in range(PASSES):
        spread = np.nanmedian(np.abs(heights - np.nanmedian(heights)))
        before, regular = regular, np.abs(heights) <= max(least, CONSPICUOUS * spread)
        against = np.where(regular[opponents], table, np.nan)
        medians_of_regular = _row_medians(against)
        if (before == regular).all() or np.isnan(medians_of_regular[regular]).all():
            break
        heights = medians_of_regular - np.nanmedian(medians_of_regular[regular])
    heights[count < OPPONENTS] = np.nan
    effects = np.where(np.isnan(heights), np.nan, _row_medians(against) - _others(against, regular))
    links = y - heights[first] - heights[second]
    links -= 0 if np.isnan(links).all() else np.nanmedian(links)
    return effects, medians, links, (~np.isnan(against)).sum(axis=1)


def _others(against: Floats, regular: NDArray[np.bool_]) -> Floats:
    """For each host, the median over the pairs of two regular hosts without it, shape (hosts,); NaN without any.

    `against` has each host's pairs with regular hosts, shape (hosts, opponents). A median over all pairs would share
    noise with the regular hosts only, and these would seem to vary less than a slow one.
    """
    of_regular = np.sort(np.where(regular[:, np.newaxis], against, np.nan), axis=1)
    # Every pair is there from both ends.
    every = np.sort(of_regular[~np.isnan(of_regular)])[::2]
    left = len(every) - (~np.isnan(of_regular)).sum(axis=1)
    lower, upper = (left - 1) // 2, left // 2
    for place in np.searchsorted(every, of_regular).T:
        lower, upper = lower + (place <= lower), upper + (place <= upper)
    # Where nothing is left, the places lie outside.
    lower, upper = (np.clip(place, 0, len(every)) for place in (lower, upper))
    padded = np.append(every, np.nan)
    return np.where(left > 0, (padded[lower] + padded[upper]) / 2, np.nan)


def _row_medians(table: Floats) -> Floats:
    """The median of the values in each line that are not NaN; NaN without any. NumPy's is many times slower."""
    lines = np.sort(table, axis=1)
    count, line = (~np.isnan(lines)).sum(axis=1), np.arange(len(lines))
    return np.asarray((lines[line, (count - 1) // 2] + lines[line, count // 2]) / 2)


def over_launches(d: Floats) -> Estimate:
    """Means over launches with their errors; `d` has the effects, shape (launches, hosts or links), NaN where missing.

    The variance is pooled over all columns but those that are UNLIKE the rest.
    """
    count = (~np.isnan(d)).sum(axis=0)
    mean = np.where(count > 0, np.nansum(d, axis=0) / np.maximum(count, 1), np.nan)
    df = np.maximum(count - 1, 0)
    squares = np.nansum((d - mean) ** 2, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = (squares.sum() - squares) / (df.sum() - df)
        unlike = fdtrc(df, df.sum() - df, squares / df / rest) < UNLIKE
        variance = np.where(unlike, squares / df, squares[~unlike].sum() / df[~unlike].sum())
        freedom = np.where(unlike, df, df[~unlike].sum())
        error = np.sqrt(variance / count)
    return Estimate(mean, np.where(df > 0, error, np.nan), np.where(df > 0, freedom, np.nan).astype(float))
