"""The sampler: calibrated blocks, shuffled and interleaved rounds, a stop rule.

The sampler knows nothing of messages. An experiment gives it cells, arms and a driver that runs a *block*: `n`
repetitions of one arm in one cell. The clock is a parameter, so the sampler is tested on simulated time.

A launch first estimates the cost of a long enough block in each cell, from an earlier launch if there is one. Then it
takes its cells in random order: it warms up, calibrates the numbers of repetitions, and runs rounds, each with every
arm once in a new random order. A drift of the machine affects all arms of a round alike and cancels in their ratio.
Ceilings do not compete, so they run in every third round only; so does the null arm if there are many cells.
"""

import math
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, product
from random import Random

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.design.protocol import identity
from crossover.design.settings import Settings
from crossover.measure.sampling.contract import Block, Blocks

MARGIN = 1.15
"""A block is planned this much longer than wanted, because blocks scatter."""

NEAR = 0.2
"""The first calibration of a cell ends with a block of this part of the wanted length. With whole ones, it took longer
than a round of every cell."""

SELDOM = 3
"""The ceilings run in every so many rounds of a cell; with fewer rounds, in as large a part of the cells."""

MANY_CELLS = 36
"""With so many cells, the null arm runs as seldom as the ceilings: its cells are judged together."""

SHORT = 0.5
"""A first block below this part of the wanted length shows that the pace of an earlier launch is not this one's."""

SETTLED = 0.05
"""A ratio is settled if half the width of its interval is at most this part of its distance from 1, in logarithms."""

WARM_UP_SHARE = 0.1
"""A cell is warmed up if a round costs at most this share of its time; longer blocks need no warm-up."""

CONNECTION = "connection"
"""Until the driver is ready: imports, sockets, farms."""

CALIBRATION = "calibration"
WARM_UP = "warm-up"

AROUND = "around blocks"
"""In rounds, but not timed: commands, lead-in, checks, draining."""

END = "end"
"""After the last round, until the driver has ended its processes."""

Place = tuple[str, float, str]
"""A curve by its `protocol.identity`, a point of its axis, and an alternative."""


@dataclass(frozen=True)
class Pace:
    """The seconds of an alternative's block in one cell: of a repetition, and besides its timed part."""

    repetition_seconds: float
    around_seconds: float

    def block(self, seconds: float) -> tuple[int, float]:
        """The repetitions of a block of at least so many timed `seconds`, and the whole seconds of that block."""
        n = max(1, math.ceil(MARGIN * seconds / self.repetition_seconds))
        return n, n * self.repetition_seconds + self.around_seconds


Paces = Mapping[Place, Pace]


def place(cell: Cell, runs: str) -> Place:
    """Where a pace belongs."""
    return identity(cell.keys) if cell.keys else "", cell.x, runs


class Phases:
    """The seconds spent in each phase of a launch once its ranks have met, by a `clock` in seconds."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter):
        self._clock = clock
        self.seconds: dict[str, float] = defaultdict(float)

    @contextmanager
    def during(self, phase: str) -> Iterator[None]:
        """Add the time of this context to a phase."""
        began = self._clock()
        yield
        self.seconds[phase] += self._clock() - began

    def add_block(self, arm: Arm, timed_seconds: float, whole_seconds: float) -> None:
        """Add a block of `arm` in a round; its timed part counts for the kind of arm."""
        self.seconds["ceilings" if arm.ceiling else "null arm" if arm.null else "arms"] += timed_seconds
        self.seconds[AROUND] += whole_seconds - timed_seconds


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
class Sample:
    """All observations of one cell, and the rule that ended it: `width`, `budget` or `rounds`."""

    cell: Cell
    observations: tuple[Observation, ...]
    stop: str


@dataclass(frozen=True)
class _Plan:
    """A roughly calibrated cell, with the repetitions `n` in each alternative's blocks."""

    cell: Cell
    arms: Mapping[Arm, int]
    """Each runs in every so many rounds, those of SELDOM rounds from the round `first` on."""
    first: int
    n: Mapping[str, int]
    known: frozenset[str]
    """The alternatives whose repetitions an earlier launch or the cell tells."""
    round_seconds: float
    """The seconds of a round on average."""
    shortest_seconds: float
    """The seconds of a round if every block were as short as that of the fastest rival."""


@dataclass(frozen=True)
class Sampler:
    """Samples the cells of one launch.

    `settings` are the experiment's; the configuration explains its limits of time and rounds. A simulation replaces
    `clock` (seconds), `disturbance` and `progress`.
    """

    blocks: Blocks
    settings: Settings
    random: Random
    clock: Callable[[], float] = time.perf_counter
    disturbance: Callable[[], str] = lambda: "ok"
    """Returns the disturbance of the machine since its last call, or `ok`."""
    progress: Callable[[int, int, Sample, float, float], None] = lambda *_: None
    """Called after every cell: cells done, number of cells, the cell, seconds elapsed, seconds left."""
    phases: Phases = field(default_factory=Phases)
    """Gets the time of calibration, warm-up and rounds."""
    settled: float = SETTLED
    paces: Paces = field(default_factory=dict)
    """Those of an earlier launch."""

    @property
    def fewest(self) -> int:
        """The rounds of a cell even if the budget is spent."""
        return self.settings.fewest_rounds

    def sample(self, cells: Sequence[Cell], arms: Sequence[Arm]) -> Iterator[Sample]:
        """Measure every cell once, in random order, and yield each when it is done.

        The remaining budget is divided again at the start of each cell, so that unspent time goes to later cells.
        """
        began, budget = self.clock(), self.settings.seconds
        with self.phases.during(CALIBRATION):
            plans = self._calibrated(cells, arms)
        order = self.random.sample(plans, len(plans))
        for done, plan in enumerate(order, start=1):
            costs = [later.round_seconds for later in order[done - 1 :]]
            sample = self._measure(plan, deal(budget - (self.clock() - began), costs, self.fewest)[0])
            gone = self.clock() - began
            left = max(budget - gone, sum(costs[1:]) * self.fewest) if costs[1:] else 0.0
            self.progress(done, len(order), sample, gone, left)
            yield sample

    def _calibrated(self, cells: Sequence[Cell], arms: Sequence[Arm]) -> list[_Plan]:
        plans, numbers = [], dict[tuple[str, str], int]()
        seldom = {arm for arm in arms if arm.ceiling or (arm.null and len(cells) >= MANY_CELLS)}
        # A repetition at a smaller x is hardly ever slower, so at least as many are needed as at the larger one.
        for cell in sorted(cells, key=lambda cell: cell.x, reverse=True):
            # A random one, so that launches of one round have the seldom arms in some of their cells.
            first = self.random.randrange(SELDOM) if self.fewest < SELDOM else 0
            own = [arm for arm in arms if cell.has(arm) and (first < self.fewest or arm not in seldom)]
            seconds, known = {}, set()
            for arm in own:
                if arm.null:
                    continue
                curve = cell.protocol, arm.runs
                if pace := self.paces.get(place(cell, arm.runs)):
                    known.add(arm.runs)
                    numbers[curve], seconds[arm.runs] = pace.block(self._block_seconds(cell))
                elif cell.least_seconds >= self._block_seconds(cell):
                    known.add(arm.runs)
                    numbers[curve], seconds[arm.runs] = 1, cell.least_seconds
                else:
                    numbers[curve], seconds[arm.runs] = self.calibrate(cell, arm, numbers.get(curve, 1), near=NEAR)
            shortest = min(seconds[arm.runs] for arm in own if not arm.ceiling)
            n = {runs: numbers[cell.protocol, runs] for runs in seconds}
            often = {arm: SELDOM if arm in seldom else 1 for arm in own}
            cost = sum(seconds[arm.runs] / often[arm] for arm in own)
            plans.append(_Plan(cell, often, first, n, frozenset(known), cost, len(own) * shortest))
        return plans

    def calibrate(self, cell: Cell, arm: Arm, n: int = 1, in_a_row: int = 1, near: float = 1.0) -> tuple[int, float]:
        """The repetitions, `n` or more, at which `in_a_row` consecutive blocks of `arm` are long enough; and the total
        seconds of such a block.

        Each arm has its own number, so that a slow arm does not take most of a round's time. The number grows by at
        most a factor of 16 per step, so that one short block does not cause a huge one. A fault ends the search,
        because the time of a faulty block means nothing and might never grow. With `near` below 1, a block of that part
        of the length is enough, and the results are calculated for a whole one.
        """
        block_seconds, long_enough = self._block_seconds(cell), 0
        while True:
            began = self.clock()
            block = self.blocks.run(cell, arm, n)
            whole = self.clock() - began
            growth = 1.0 if block.seconds >= block_seconds else MARGIN * block_seconds / max(block.seconds, 1e-9)
            long_enough = long_enough + 1 if block.seconds >= near * block_seconds else 0
            if block.fault:
                return n, whole
            if long_enough == in_a_row:
                return math.ceil(n * growth), whole + block.seconds * (growth - 1)
            if not long_enough:
                n = max(n + 1, math.ceil(n * min(16.0, growth)))

    def _block_seconds(self, cell: Cell) -> float:
        return float(cell.block_seconds or self.settings.block_seconds)

    def _measure(self, plan: _Plan, share_seconds: float) -> Sample:
        began = self.clock()
        n, unchecked = dict(plan.n), set(plan.known)
        # The warm-up calibrates again, because a block may only have been long enough because it was cold or
        # interrupted. It is unlikely that two blocks in a row are interrupted for long.
        if plan.shortest_seconds <= WARM_UP_SHARE * share_seconds:
            with self.phases.during(WARM_UP):
                for arm in plan.arms:
                    if not arm.null:
                        n[arm.runs], _ = self.calibrate(plan.cell, arm, n[arm.runs], in_a_row=2)
            unchecked.clear()
        self.disturbance()
        observations: list[Observation] = []
        for number in count():
            taken = []
            present = [arm for arm, often in plan.arms.items() if (number - plan.first) % often == 0]
            for position, arm in enumerate(self.random.sample(present, len(present))):
                start = self.clock()
                block = self.blocks.run(plan.cell, arm, n[arm.runs])
                if arm.runs in unchecked:
                    unchecked.remove(arm.runs)
                    if not block.fault and block.seconds < SHORT * self._block_seconds(plan.cell):
                        n[arm.runs], _ = self.calibrate(plan.cell, arm, n[arm.runs])
                        self.phases.seconds[CALIBRATION] += self.clock() - start
                        start = self.clock()
                        block = self.blocks.run(plan.cell, arm, n[arm.runs])
                self.phases.add_block(arm, block.seconds, self.clock() - start)
                taken.append((position, arm, n[arm.runs], round(start * 1e9), block))
            validity = self.disturbance()
            observations += [
                Observation(plan.cell, arm, number, position, times, start_ns, block, block.fault or validity)
                for position, arm, times, start_ns, block in taken
            ]
            if stop := self._stop(observations, number + 1, self.clock() - began, share_seconds):
                break
        return Sample(plan.cell, tuple(observations), stop)

    def _stop(self, observations: Sequence[Observation], rounds: int, spent: float, share: float) -> str:
        """The rule that ends the cell now, or an empty string. The next round must still fit into the share."""
        limits = self.settings.rounds
        if rounds < self.fewest:
            return ""
        if rounds >= limits.at_least and (
            unsettled(observations, self.settled, self.settings.reference) <= self.settings.target_width
        ):
            return "width"
        if spent + spent / rounds > share:
            return "budget"
        return "rounds" if rounds >= limits.at_most else ""


def deal(seconds: float, costs: Sequence[float], fewest: int = 3) -> list[float]:
    """Divide `seconds` among cells, in proportion to the square roots of the `costs` of their rounds.

    For equal noise per round, this allocation has the least total variance (Neyman, J. R. Stat. Soc. 97 (1934) 558).
    But no share is below the `fewest` rounds; the extra time of such cells is taken from all others in advance, so
    that the last cells still get their share.
    """
    shares = [0.0] * len(costs)
    # Only the most costly cells can fall short, so each takes its share of the rest before the cheaper ones.
    order = sorted(range(len(costs)), key=costs.__getitem__, reverse=True)
    for at, cell in enumerate(order):
        roots = sum(math.sqrt(costs[cheaper]) for cheaper in order[at:])
        shares[cell] = max(fewest * costs[cell], seconds * math.sqrt(costs[cell]) / roots)
        seconds -= shares[cell]
    return shares


def unsettled(observations: Sequence[Observation], settled: float = SETTLED, reference: str = "") -> float:
    """Half the width of the widest interval of any arm's median log-ratio to the reference, within this launch.

    Zero if every ratio is settled, because more rounds would change no answer about a ratio that is this far from 1;
    settled ratios do not count. Infinite while an arm has fewer than two valid rounds. The `reference` is what the null
    arm runs, if it is not given.
    """
    values: dict[tuple[str, str], dict[int, float]] = {}
    for seen in observations:
        for metric, value in seen.block.values.items():
            values.setdefault((metric, seen.arm.name), {})[seen.round] = value
    reference = reference or next((seen.arm.runs for seen in observations if seen.arm.null), "")
    others = {seen.arm.name for seen in observations if not (seen.arm.null or seen.arm.ceiling)} - {reference}
    widths = []
    for metric, arm in product({metric for metric, _ in values}, others):
        base = values.get((metric, reference), {})
        series = values.get((metric, arm), {})
        logs = [math.log(value / base[at]) for at, value in series.items() if at in base]
        width = _half_width(logs)
        far = len(logs) >= 2 and width <= settled * abs(statistics.median(logs))
        widths.append(0.0 if far else width)
    return max(widths, default=math.inf)


def _half_width(logs: Sequence[float]) -> float:
    """Half the width of the interval of the median.

    1.96 * 1.2533 * 1.4826 * MAD / sqrt(rounds): the median's standard error under a normal centre, with the scale from
    the median absolute deviation. This is a rule for stopping, not a result: one launch has no interval.
    """
    if len(logs) < 2:
        return math.inf
    centre = statistics.median(logs)
    mad = statistics.median(abs(value - centre) for value in logs)
    return 1.96 * 1.2533 * 1.4826 * mad / math.sqrt(len(logs))
