"""The sampler: calibrated blocks, shuffled and interleaved rounds, a stop rule.

The sampler knows nothing of messages. An experiment gives it cells, arms and a driver that runs a *block*: `n`
repetitions of one arm in one cell. The clock is a parameter, so the sampler is tested on simulated time.

A launch takes its cells in random order. It first estimates the cost of a long enough block in each cell. Then, cell by
cell, it warms up, calibrates the numbers of repetitions, and runs rounds, each with every arm once in a new random
order. A drift of the machine affects all arms of a round alike and cancels in their ratio.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any

from crossover.measure.sampling.contract import Block, Blocks, Cell
from crossover.planning.plan import Arm

FEWEST_ROUNDS = 3
"""The rounds of a cell even if the budget is spent; a median needs at least three."""

WARM_UP_SHARE = 0.1
"""A cell is warmed up if a round costs at most this share of its time; longer blocks need no warm-up."""


@dataclass(frozen=True)
class Observation:
    """One block with its position: `round` and `position` count from 0, `start_ns` is on the launch's clock."""

    cell: Cell
    arm: Arm
    round: int
    position: int
    n: int
    start_ns: int
    block: Block
    validity: str


@dataclass(frozen=True)
class Stretch:
    """All observations of one cell, and the rule that ended it: `width`, `budget` or `rounds`."""

    cell: Cell
    observations: tuple[Observation, ...]
    stop: str


@dataclass(frozen=True)
class Sampling:
    """The limits of time and rounds; the configuration's keys of the same names explain each."""

    block_seconds: float
    rounds_at_least: int
    rounds_at_most: int
    target_width: float
    budget_seconds: float

    def block_seconds_in(self, cell: Cell) -> float:
        """The shortest time of a block in `cell`: the cell's own, or the experiment's."""
        return self.block_seconds if cell.block_seconds is None else cell.block_seconds

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Sampling:
        """Take the sampler's share of an experiment's settings."""
        return cls(
            block_seconds=settings["block_seconds"],
            rounds_at_least=settings["rounds"]["at_least"],
            rounds_at_most=settings["rounds"]["at_most"],
            target_width=settings["target_width"],
            budget_seconds=settings["budget_seconds"],
        )


@dataclass(frozen=True)
class Surroundings:
    """The sampler's connections to the world, each replaceable by a simulation.

    `clock` returns seconds. `disturbance` returns the disturbance of the machine since its last call, or `ok`.
    `progress` is called after every cell: cells done, number of cells, the cell, seconds elapsed, seconds left.
    """

    clock: Callable[[], float] = time.perf_counter
    disturbance: Callable[[], str] = lambda: "ok"
    progress: Callable[[int, int, Stretch, float, float], None] = lambda *_: None


def sample(
    blocks: Blocks,
    cells: Sequence[Cell],
    arms: Sequence[Arm],
    sampling: Sampling,
    random: Random,
    world: Surroundings | None = None,
) -> Iterator[Stretch]:
    """Measure every cell once, in random order, and yield each when it is done.

    First all cells are calibrated roughly, which gives the cost of a round in each. Then their rounds are run, cell by
    cell. The remaining budget is divided again at the start of each cell, so that unspent time goes to later cells.
    """
    world = world or Surroundings()
    began = world.clock()
    order = [
        _calibrated(blocks, cell, [arm for arm in arms if cell.has(arm)], sampling, world)
        for cell in random.sample(list(cells), len(cells))
    ]
    for done, plan in enumerate(order, start=1):
        costs = [later.round_seconds for later in order[done - 1 :]]
        share, *shares = deal(sampling.budget_seconds - (world.clock() - began), costs)
        stretch = _measure(blocks, plan, sampling, share, random, world)
        gone = world.clock() - began
        left = max(sampling.budget_seconds - gone, sum(costs[1:]) * FEWEST_ROUNDS) if shares else 0.0
        world.progress(done, len(order), stretch, gone, left)
        yield stretch


def deal(seconds: float, costs: Sequence[float]) -> list[float]:
    """Divide `seconds` among cells, in proportion to the square roots of the `costs` of their rounds.

    For equal noise per round, this allocation has the least total variance (Neyman, J. R. Stat. Soc. 97 (1934) 558).
    But no share is below FEWEST_ROUNDS rounds; the extra time of such cells is taken from all others in advance, so
    that the last cells still get their share.
    """
    shares = [FEWEST_ROUNDS * cost for cost in costs]
    free = set(range(len(costs)))
    while free:
        left = seconds - sum(shares[cell] for cell in range(len(costs)) if cell not in free)
        unit = left / sum(math.sqrt(costs[cell]) for cell in free)
        dealt = {cell: unit * math.sqrt(costs[cell]) for cell in free}
        short = {cell for cell in free if dealt[cell] < shares[cell]}
        if not short:
            for cell in free:
                shares[cell] = dealt[cell]
            break
        free -= short
    return shares


@dataclass(frozen=True)
class _Plan:
    """A roughly calibrated cell: its arms, the repetitions in each alternative's blocks, the seconds of a round, and
    the seconds of a round if every block were as short as that of the fastest rival.
    """

    cell: Cell
    arms: Sequence[Arm]
    n: Mapping[str, int]
    round_seconds: float
    shortest_seconds: float


def _calibrated(blocks: Blocks, cell: Cell, arms: Sequence[Arm], sampling: Sampling, world: Surroundings) -> _Plan:
    found = {
        arm.runs: calibrate(blocks, cell, arm, sampling.block_seconds_in(cell), world.clock)
        for arm in arms
        if not arm.null
    }
    seconds = [found[arm.runs][1] for arm in arms]
    shortest = min(found[arm.runs][1] for arm in arms if not arm.ceiling)
    return _Plan(cell, arms, {runs: n for runs, (n, _) in found.items()}, sum(seconds), len(seconds) * shortest)


def calibrate(
    blocks: Blocks,
    cell: Cell,
    arm: Arm,
    block_seconds: float,
    clock: Callable[[], float],
    n: int = 1,
    in_a_row: int = 1,
) -> tuple[int, float]:
    """The repetitions, `n` or more, at which `in_a_row` consecutive blocks of `arm` last `block_seconds` each; and the
    total seconds of such a block.

    Each arm has its own number, so that a slow arm does not take most of a round's time. The number grows by at most a
    factor of 16 per step, so that one short block does not cause a huge one. A fault ends the search, because the time
    of a faulty block means nothing and might never grow.
    """
    long_enough = 0
    while True:
        began = clock()
        block = blocks.run(cell, arm, n)
        whole = clock() - began
        if block.seconds >= block_seconds:
            long_enough += 1
        else:
            long_enough = 0
        if block.fault or long_enough == in_a_row:
            return n, whole
        if not long_enough:
            growth = 1.15 * block_seconds / max(block.seconds, 1e-9)
            n = max(n + 1, math.ceil(n * min(16.0, growth)))


def _measure(
    blocks: Blocks,
    plan: _Plan,
    sampling: Sampling,
    share_seconds: float,
    random: Random,
    world: Surroundings,
) -> Stretch:
    began = world.clock()
    n = dict(plan.n)
    # The warm-up calibrates again, because a block may only have been long enough because it was cold or interrupted.
    # It is unlikely that two blocks in a row are interrupted for long.
    if plan.shortest_seconds <= WARM_UP_SHARE * share_seconds:
        for arm in plan.arms:
            if not arm.null:
                n[arm.runs], _ = calibrate(
                    blocks, plan.cell, arm, sampling.block_seconds_in(plan.cell), world.clock, n[arm.runs], in_a_row=2
                )
    world.disturbance()
    observations: list[Observation] = []
    rounds = 0
    while True:
        taken = []
        for position, arm in enumerate(random.sample(list(plan.arms), len(plan.arms))):
            start = world.clock()
            taken.append((position, arm, start, blocks.run(plan.cell, arm, n[arm.runs])))
        validity = world.disturbance()
        observations += [
            Observation(
                plan.cell, arm, rounds, position, n[arm.runs], round(start * 1e9), block, block.fault or validity
            )
            for position, arm, start, block in taken
        ]
        rounds += 1
        stop = _stop(observations, rounds, world.clock() - began, share_seconds, sampling)
        if stop:
            return Stretch(plan.cell, tuple(observations), stop)


def _stop(observations: Sequence[Observation], rounds: int, spent: float, share: float, sampling: Sampling) -> str:
    """The rule that ends the cell now, or an empty string. The next round must still fit into the share."""
    if rounds < FEWEST_ROUNDS:
        return ""
    if rounds >= sampling.rounds_at_least and widest(observations) <= sampling.target_width:
        return "width"
    if spent + spent / rounds > share:
        return "budget"
    if rounds >= sampling.rounds_at_most:
        return "rounds"
    return ""


def widest(observations: Sequence[Observation]) -> float:
    """Half the width of the widest interval of any arm's median log-ratio to the reference, within this launch.

    1.96 * 1.2533 * 1.4826 * MAD / sqrt(rounds): the median's standard error under a normal centre, with the scale from
    the median absolute deviation. This is a rule for stopping, not a result: one launch has no interval. Infinite while
    an arm has fewer than two valid rounds.
    """
    values: dict[tuple[str, str], dict[int, float]] = {}
    for seen in observations:
        for metric, value in seen.block.values.items():
            values.setdefault((metric, seen.arm.name), {})[seen.round] = value
    reference = next((seen.arm.runs for seen in observations if seen.arm.null), "")
    others = {seen.arm.name for seen in observations if not (seen.arm.null or seen.arm.ceiling)} - {reference}
    widths = []
    for metric, arm in product({metric for metric, _ in values}, others):
        base = values.get((metric, reference), {})
        series = values.get((metric, arm), {})
        widths.append(_half_width([math.log(value / base[at]) for at, value in series.items() if at in base]))
    return max(widths, default=math.inf)


def _half_width(logs: Sequence[float]) -> float:
    if len(logs) < 2:
        return math.inf
    centre = statistics.median(logs)
    mad = statistics.median(abs(value - centre) for value in logs)
    return 1.96 * 1.2533 * 1.4826 * mad / math.sqrt(len(logs))
