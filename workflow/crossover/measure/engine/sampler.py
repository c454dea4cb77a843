"""The measuring engine: calibrated blocks, shuffled and interleaved rounds, a stop rule.

It knows nothing of messages. An experiment gives it cells, arms and something that runs a *block*: `n`
repetitions of one arm in one cell. The clock is a parameter, so all of it is tested on simulated time.

A launch takes its cells in a random order. It finds what a block that lasts long enough costs in each, and then,
cell by cell, warms up, settles the numbers of repetitions and runs rounds, each with every arm once in a fresh
random order: a drift of the machine hits all arms of a round alike and cancels in their ratio.
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

from crossover.measure.engine.contract import Block, Blocks, Cell
from crossover.planning.plan import Arm

FEWEST_ROUNDS = 3
"""What a cell gets even when the budget is spent: without three there is no median worth the name."""

WARM_UP_SHARE = 0.1
"""A cell is warmed up where a round costs at most this share of its time; longer blocks need none."""


@dataclass(frozen=True)
class Observation:
    """One block in its place: `round` and `position` count from 0, `start_ns` is on the launch's clock."""

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
    """All observations of one cell, and which rule ended it: `width`, `budget` or `rounds`."""

    cell: Cell
    observations: tuple[Observation, ...]
    stop: str


@dataclass(frozen=True)
class Sampling:
    """How long and how often; the keys of the same names in the configuration explain each."""

    block_seconds: float
    rounds_at_least: int
    rounds_at_most: int
    target_width: float
    budget_seconds: float

    def block_seconds_in(self, cell: Cell) -> float:
        """The least time that a block lasts in `cell`, which may ask for another than the experiment's."""
        return self.block_seconds if cell.block_seconds is None else cell.block_seconds

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Sampling:
        """Take the engine's share of an experiment's settings."""
        return cls(
            block_seconds=settings["block_seconds"],
            rounds_at_least=settings["rounds"]["at_least"],
            rounds_at_most=settings["rounds"]["at_most"],
            target_width=settings["target_width"],
            budget_seconds=settings["budget_seconds"],
        )


@dataclass(frozen=True)
class Surroundings:
    """What the engine needs of the world, each replaceable by a simulation.

    `clock` gives seconds. `disturbance` says what has disturbed the machine since it was last asked, or
    `ok`. `progress` hears of every cell: how many are done, of how many, which, seconds gone, seconds left.
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

    First all cells are calibrated roughly, so that what a round of each costs is known; then their rounds are run, cell
    by cell. What is left of the budget is dealt anew as each cell begins, so what one leaves unspent goes to those
    after it.
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
    """Shares of `seconds` for cells whose rounds cost so much, in proportion to the square roots of the costs.

    For equal noise per round that is the allocation of least total variance (Neyman, J. R. Stat. Soc. 97 (1934)
    558). But no share is below FEWEST_ROUNDS rounds, and what these cells take beyond their proportion is taken
    from the others beforehand, lest those that come last go short.
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
    """A cell whose costs are known roughly: its arms, the repetitions in each alternative's blocks, and the seconds
    that a round takes in all, and would take if every block were like the shortest of those that compete.
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
    """The repetitions, `n` or more, at which `in_a_row` blocks of `arm` last `block_seconds` each, one after the other;
    and the seconds that such a block takes in all.

    Each arm has its own, so that a slow arm does not take most of a round's time. Grows by at most 16 a step, so
    that one block cut short cannot ask for a flood. A fault ends the search: what a faulty block lasts says
    nothing, and might never grow.
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
    # The warm-up calibrates again: a block that was long enough may have been cold or interrupted. Both arms' blocks
    # would have to be interrupted for long to look like long ones.
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
    """Which rule ends the cell now, or the empty string. The next round must still fit into the share."""
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
    """Half the width of the widest interval of any arm's median log-ratio to the reference, this launch only.

    1.96 * 1.2533 * 1.4826 * MAD / sqrt(rounds): the median's standard error under a normal centre, its scale
    from the median absolute deviation. A rule for stopping, not a result: one launch has no interval.
    Infinite while an arm has fewer than two sane rounds.
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
