"""Hosts that are slower than the others, from launches that ran on different hosts.

A slow host or link shifts whole launches. Intervals over launches then only become wide, so each host is tested: the
launches that used it against those that did not. A launch counts once, by its deviation from the median launch, which
all of its arms share. The two halves of the axis are tested by themselves, because a narrow link slows large messages
only, and a slow processor rather small ones.

Launches vary on alike hosts too. Their variance is pooled over both sides, as in Student's t-test. A permutation test
could not name any of three hosts with six launches: two fast launches share a pair by chance in a fifth of all orders.
"""

import warnings
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from crossover.analyse.estimates.curve import PANEL, Curve, Row
from crossover.analyse.estimates.intervals import Estimate, Floats, holm
from crossover.analyse.estimates.sensitivity import Biases
from crossover.records.outcome import OPEN, WORSE
from crossover.records.record import SIGNIFICANCE
from crossover.records.rows import Launch

FEWEST = 2
"""The fewest launches with a host, and without it, to compare."""

Used = dict[tuple[str, str], dict[int, frozenset[str]]]
"""The hosts of each launch, by experiment and placement."""

NOTICEABLE = np.log(1.1)
"""The smallest factor, as a logarithm, by which a host is called worse."""


def hosts(curves: Sequence[Curve], launches: Sequence[Launch]) -> Iterator[Row]:
    """The rows of record.HOSTS; none where all launches of an experiment and placement ran on the same hosts.

    `p` is adjusted for all rows of an experiment and placement (Holm), so alike
    hosts are called worse in at most SIGNIFICANCE of them. A worse host is at least NOTICEABLE worse, and beyond chance
    and possible bias.
    """
    biases = Biases(curves)
    for place, sets in _used(launches).items():
        if len(set(sets.values())) > 1:
            own = [each.swept for each in curves if (each.facts["experiment"], each.facts["placement"]) == place]
            yield from _judged([row for panel in _panels(own) for row in _rows(panel, sets, biases)])


def _used(launches: Sequence[Launch]) -> Used:
    found: Used = {}
    for row in launches:
        if row.outcome == "measured" and row.hosts:
            found.setdefault((row.experiment, row.placement), {})[row.launch] = frozenset(row.hosts.split(","))
    return found


def _panels(curves: Sequence[Curve]) -> list[list[Curve]]:
    """The curves of each panel that have the most launches: in other launches, an arm is missing."""
    found: dict[tuple[str, ...], list[Curve]] = {}
    for curve in curves:
        if curve.launches:
            found.setdefault(tuple(curve.facts[name] for name in PANEL), []).append(curve)
    most = {name: max(len(each.launches) for each in panel) for name, panel in found.items()}
    return [[each for each in panel if len(each.launches) == most[name]] for name, panel in found.items()]


def _rows(panel: Sequence[Curve], sets: dict[int, frozenset[str]], biases: Biases) -> Iterator[Row]:
    """The rows of a panel, not judged yet: `p` is not adjusted."""
    facts = panel[0].facts
    bias = biases.of(panel[0])
    numbers = [number for number in panel[0].launches if number in sets]
    x = np.unique(np.concatenate([curve.x for curve in panel]))
    d = deviations([_on(curve, numbers, x) for curve in panel], facts["better"])
    halves = [half for half in np.array_split(np.arange(len(x)), 2) if len(half)]
    for host, half in product(sorted(frozenset().union(*(sets[number] for number in numbers))), halves):
        with_host = np.array([host in sets[number] for number in numbers])
        yield facts | {
            "host": host,
            "x_from": x[half[0]],
            "x_to": x[half[-1]],
            "smallest_effect": np.exp(bias),
            **_compared(_median(d[:, half], axis=1), with_host, bias),
        }


def _on(curve: Curve, numbers: Sequence[int], x: Floats) -> Floats:
    """The curve's values, shape (launches, cells), for these launches and cells; NaN where it has none."""
    found = np.full((len(numbers), len(x)), np.nan)
    columns = np.searchsorted(x, curve.x)
    for row, number in enumerate(numbers):
        if number in curve.launches:
            found[row, columns] = curve.values[curve.launches.index(number)]
    return found


def deviations(arms: Sequence[Floats], better: str) -> Floats:
    """How much worse each launch is than the median launch in each cell, as a logarithm, shape (launches, cells).

    `arms` has each arm's logarithms of values, of that shape; the median over the arms counts. `better` is `higher` or
    `lower`. NaN where nothing was measured.
    """
    d = np.stack(arms) * (-1 if better == "higher" else 1)
    return _median(d - _median(d, axis=1)[:, np.newaxis], axis=0)


def _median(values: Floats, axis: int) -> Floats:
    """The median of the values that are not NaN, without a warning where there are none."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN slice", RuntimeWarning)
        return np.asarray(np.nanmedian(values, axis=axis))


def _compared(d: Floats, with_host: NDArray[np.bool_], bias: float) -> Row:
    """The launches' deviations `d` with the host, against those without it; `bias` is the possible one."""
    known = ~np.isnan(d)
    those, others = d[known & with_host], d[known & ~with_host]
    found: Row = {"launches_with": len(those), "launches_without": len(others)}
    if min(len(those), len(others)) < FEWEST:
        return found
    estimate = difference(those, others)
    return found | {
        "factor": float(np.exp(estimate.mean)),
        "low": float(np.exp(estimate.low)),
        "high": float(np.exp(estimate.high)),
        "p": float(estimate.with_bias(np.nan_to_num(bias)).p),
    }


def difference(first: Floats, second: Floats) -> Estimate:
    """The mean of the first minus that of the second, at least two values each, with their pooled variance."""
    df = len(first) + len(second) - 2
    squares = ((first - first.mean()) ** 2).sum() + ((second - second.mean()) ** 2).sum()
    error = np.sqrt(squares / df * (1 / len(first) + 1 / len(second)))
    return Estimate(*map(np.asarray, (first.mean() - second.mean(), error, float(df))))


def _judged(rows: Sequence[Row]) -> Iterator[Row]:
    """The rows with their verdicts, worse or open, and adjusted p-values."""
    tested = [row for row in rows if "p" in row]
    for row, p in zip(tested, holm(np.array([row["p"] for row in tested])), strict=True):
        worse = p <= SIGNIFICANCE and row["factor"] >= np.exp(NOTICEABLE)
        row |= {"p": float(p), "verdict": WORSE if worse else OPEN}
    for row in rows:
        yield {"verdict": OPEN} | row
