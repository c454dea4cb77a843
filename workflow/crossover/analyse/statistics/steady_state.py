"""The state of a series of rounds: flat, warm-up, slowdown or no steady state.

After Barrett, Bolz-Tereick, Killick, Mount and Tratt, *Virtual machine warmup blows hot and cold* (OOPSLA 2017): the
series is cut where its level shifts, and the levels give its state. Their series have 2,000 iterations, ours start at
ten rounds. So we cut ranks, on which a slow block has no more influence than any other. The penalty cuts a constant
series in one of twenty cases, whatever its length and its noise.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from crossover.analyse.statistics.intervals import Floats
from crossover.analyse.statistics.segmentation import cuts

FEWEST = 10
"""The fewest rounds of a series that is judged."""

LONGEST = 100
"""The most rounds that are judged one by one; a longer series is reduced to medians of neighbours."""

SHORTEST = 3
"""The fewest rounds of a segment."""

TAIL = 0.25
"""The last part of a series, which must be constant in a steady state; a quarter, as in the paper."""


@dataclass(frozen=True)
class State:
    """The state of one series."""

    name: str
    """`flat`, `warm-up`, `slowdown`, `no steady state` or `too few rounds`."""
    settled: int | None
    """The number of rounds before the steady state; None if there is none."""


def states(worse: Floats, series: NDArray[np.int64], tolerance: Floats) -> list[State]:
    """The state of each series.

    `worse` holds logarithms, the larger the worse, in the order of the rounds, and `series` the number of the series
    of each, rising. A level counts as another if it is more than the series' `tolerance` away, in logarithms. The
    states are those of the paper, which docs/data.md defines under "Steady states".
    """
    found = [State("too few rounds", None)] * len(tolerance)
    for which, values in _of_equal_length(worse, series, len(tolerance)):
        step = -(-values.shape[1] // LONGEST)
        left_out = values.shape[1] % step  # first rounds, which fill no group
        kept = values[:, left_out:]
        short = np.median(kept.reshape(len(kept), -1, step), axis=2)
        for number, state in zip(which, _settle(short, tolerance[which]), strict=True):
            found[number] = State(state.name, left_out + state.settled * step if state.settled else state.settled)
    return found


def _settle(worse: Floats, tolerance: Floats) -> list[State]:
    """The states of series of one length, shape (series, rounds).

    The rounds after the settled point are cut again by themselves, as long as that finds new cuts, because beside a
    large step the ranks of a small step or a slope are nearly equal. These rounds can contain earlier cuts, between
    levels within the tolerance, and a new cut can move the settled point back. So a repetition may find an earlier cut
    again; a cut is new only if it is at least SHORTEST away from all others. Cuts are only added, so the loop ends.
    """
    starts = cuts(_scores(worse), _penalty(worse.shape[1]), SHORTEST)
    found = [_state(*each) for each in zip(worse, starts, tolerance, strict=True)]
    again = [number for number, state in enumerate(found) if state.settled]
    while again:
        changed = []
        settled = np.array([found[number].settled for number in again])
        for begin in np.unique(settled[worse.shape[1] - settled >= FEWEST]).tolist():
            which = np.array(again)[settled == begin]
            ends = worse[which, begin:]
            further_cuts = cuts(_scores(ends), _penalty(ends.shape[1]), SHORTEST)
            for number, further in zip(which.tolist(), further_cuts, strict=True):
                new = [begin + cut for cut in further if _apart(begin + cut, starts[number])]
                starts[number] = sorted(starts[number] + new)
                found[number] = _state(worse[number], starts[number], tolerance[number])
                if new and found[number].settled not in (None, 0, begin):
                    changed.append(number)
        again = changed
    return found


def _apart(cut: int, others: list[int]) -> bool:
    """Whether segments can begin at `cut` and at all of the `others`."""
    return all(abs(cut - other) >= SHORTEST for other in others)


def _of_equal_length(
    worse: Floats, series: NDArray[np.int64], count: int
) -> Iterator[tuple[NDArray[np.int64], Floats]]:
    """The numbers of all series of each length that can be judged, and their values, shape (series, rounds)."""
    lengths = np.bincount(series, minlength=count)
    starts = np.cumsum(lengths) - lengths
    for length in np.unique(lengths[lengths >= FEWEST]):
        which = np.flatnonzero(lengths == length)
        yield which, worse[starts[which, np.newaxis] + np.arange(length)]


def _scores(values: Floats) -> Floats:
    """Normal scores of the ranks within each series, of variance 1; 0 for a series of one value."""
    ranks = pd.DataFrame(values).rank(axis=1).to_numpy()
    scores = ndtri((ranks - 0.5) / values.shape[1])
    spread = scores.std(axis=1, keepdims=True)
    return np.asarray(np.divide(scores, spread, out=np.zeros_like(scores), where=spread > 0))


def _penalty(rounds: int) -> float:
    """The penalty of a cut, for series of FEWEST to LONGEST rounds.

    Determined by shuffling ranks, which is exact for any noise with independent rounds; the tests repeat it.
    """
    return float(2.7 + 1.45 * np.log(rounds))


def _state(worse: Floats, starts: list[int], tolerance: float) -> State:
    if not starts:
        return State("flat", 0)
    rounds = worse.tolist()  # plain Python is five times faster here than arrays of a few numbers
    levels = [median(rounds[begin:end]) for begin, end in pairwise([0, *starts, len(rounds)])]
    others = [number for number, level in enumerate(levels) if abs(level - levels[-1]) > tolerance]
    if not others:
        return State("flat", 0)
    settled = starts[others[-1]]
    if settled > math.floor((1 - TAIL) * len(rounds)):
        return State("no steady state", None)
    return State("warm-up" if all(levels[number] > levels[-1] for number in others) else "slowdown", settled)
