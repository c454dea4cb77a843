"""Synthetic rows of record.PAIRS: hosts that play against each other, of which some hosts and links are slow."""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import combinations

from campaigns import Campaign, Row, mpi

ARMS = ("all pairs at once", "one pair at a time")
METRICS = ((8.0, "latency", "s", "lower", 2e-6), (1e6, "bandwidth", "MB/s", "higher", 1.2e4))


def tournament(
    hosts: int = 16,
    slow: Mapping[str, float] = {},
    links: Mapping[tuple[str, str], float] = {},
    unsure: tuple[str, ...] = (),
    launches: int = 3,
    rounds: int = 0,
    names: str = "node{}",
) -> list[Row]:
    """The rows of all metrics and arms; with `rounds`, of so many pairs of each host, without effects of links.

    A factor of `slow` is that of the host in bandwidth with one pair at a time, and in nothing else.
    """
    rng, found = random.Random(7), []
    known = [names.format(number) for number in range(1, hosts + 1)]
    for x, metric, unit, better, usual in METRICS:
        for arm in ARMS:
            shared: Row = {
                "experiment": mpi().experiment, "placement": "node", "protocol": mpi().protocol, "metric": metric,
                "axis": "message size", "axis_unit": "bytes", "better": better, "arm": arm, "unit": unit, "x": x,
                "launches": launches, "rounds": 9 * launches, "smallest_effect": 1.03,
            }  # fmt: skip
            felt = slow if (metric, arm) == ("bandwidth", ARMS[1]) else {}
            worse = {host: felt.get(host, 1.0) for host in known}

            def value(times: float, usual: float = usual, better: str = better) -> float:
                return usual * times if better == "lower" else usual / times

            for host in known:
                own = judged(worse[host], 0.2 if host in unsure else 0.012, launches, rng)
                found.append(shared | own | {"host": host, "other": None, "value": value(worse[host])})
            for host, other in combinations(sorted(known), 2):
                if rounds and rng.random() > rounds / hosts:
                    continue
                times = links.get((host, other), 1.0)
                own = judged(times, 0.02, launches, rng) if not rounds else unjudged()
                noise = rng.lognormvariate(0, 0.02)
                pair = value(max(worse[host], worse[other]) * times * noise)
                found.append(shared | own | {"host": host, "other": other, "value": pair})
    return found


def unjudged() -> Row:
    return dict.fromkeys(("factor", "low", "high", "p")) | {"verdict": "open"}


def judged(times: float, half_width: float, launches: int, rng: random.Random) -> Row:
    """The columns of an effect, whose interval covers the truth."""
    factor = times * rng.uniform(1 - half_width / 3, 1 + half_width / 3)
    if launches < 2:
        return unjudged() | {"factor": factor}
    low, high = factor * (1 - half_width), factor * (1 + half_width)
    verdict = "worse" if low > 1.03 else "alike" if high < 1.05 else "open"
    return {"factor": factor, "low": low, "high": high, "p": 0.001 if verdict == "worse" else 0.5, "verdict": verdict}


def campaign(rows: list[Row]) -> Campaign:
    """Results with these rows, and with curves of the same experiment."""
    return Campaign([mpi()], estimated={"pairs": rows})
