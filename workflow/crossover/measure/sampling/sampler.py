"""The sampler: calibrated blocks, shuffled and interleaved rounds, a stop rule.

The sampler knows nothing of messages. An experiment gives it cells, arms and a driver that runs a *block*: `n`
repetitions of one arm in one cell. The clock is a parameter, so the sampler is tested on simulated time.

A launch first estimates the cost of a long enough block in each cell, from an earlier launch if there is one. Then it
visits its cells in random order, several times: it warms up, calibrates the numbers of repetitions, and runs rounds,
each with every arm once in a new random order. A drift of the machine affects all arms of a round alike and cancels in
their ratio. A slow second or two, as virtual machines have them, falls into one visit of a cell, not into all its
rounds. Ceilings do not compete, so they run in every third round only; so does the null arm if there are many cells,
and a rival whose block takes far longer than the reference's.
"""

import math
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from random import Random

from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.design.protocol import identity
from crossover.design.settings import Settings
from crossover.measure.sampling.contract import Block, Blocks

VISITS = 3
"""A cell's rounds are spread over so many visits, as far as its time allows more than one round."""

MARGIN = 1.15
"""A block is planned this much longer than wanted, because blocks scatter."""

NEAR = 0.2
"""The first calibration of a cell ends with a block of this part of the wanted length. With whole ones, it took longer
than a round of every cell."""

SELDOM = 3
"""The ceilings run in every so many rounds of a cell; with fewer rounds, in as large a part of the cells."""

MANY_CELLS = 20
"""With so many cells, the null arm runs as seldom as the ceilings: its cells are judged together."""

FAR_SLOWER = 3
"""A rival whose block takes more than so many times the reference's runs as seldom as the ceilings, from the first
round on: the rounds that it would cost tell more about the rivals that are near each other."""

NEVER = (math.inf, math.inf)
"""Costs that no arm exceeds."""

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
    """All observations of one cell, and the rule that ended it: `width`, `budget` or `rounds`; empty before its end."""

    cell: Cell
    observations: tuple[Observation, ...]
    stop: str


@dataclass(frozen=True)
class _Plan:
    """A roughly calibrated cell, with the repetitions `n` in each alternative's blocks."""

    cell: Cell
    arms: Mapping[Arm, tuple[int, int]]
    """Each runs in every so many rounds, from its own first round on: (rounds, first)."""
    n: Mapping[str, int]
    known: frozenset[str]
    """The alternatives whose repetitions an earlier launch or the cell tells."""
    round_seconds: float
    """The seconds of a round on average."""
    shortest_seconds: float
    """The seconds of a round if every block were as short as that of the fastest rival."""

    def present(self, number: int) -> list[Arm]:
        """The arms of a round."""
        return [arm for arm, (every, first) in self.arms.items() if (number - first) % every == 0]


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
    """Called after every visit: visits done, of how many, the cell so far, seconds elapsed, seconds left."""
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
        """Measure every cell, in VISITS passes of random order, and yield each when it is done.

        The remaining budget is divided again at the start of each visit, so that unspent time goes to later ones.
        """
        began, budget = self.clock(), self.settings.seconds
        with self.phases.during(CALIBRATION):
            pending = [_Measurement(plan, dict(plan.n), set(plan.known)) for plan in self._calibrated(cells, arms)]
        made = 0
        for last in range(VISITS - 1, -1, -1):
            needed = math.ceil(self.fewest * (VISITS - last) / VISITS)
            order, passing = self.random.sample(pending, len(pending)), self.clock()
            whole = (budget - (passing - began)) / (last + 1)
            for at, own in enumerate(order):
                costs = [later.plan.round_seconds for later in order[at:]]
                share = deal(whole - (self.clock() - passing), costs, needed - own.rounds)[0]
                self._visit(own, share, needed, is_last=not last)
                # A cell that has enough rounds is visited no more.
                made += 1 + (last if own.stop else 0)
                pending = [each for each in pending if not each.stop]
                sample, gone = Sample(own.plan.cell, tuple(own.observations), own.stop), self.clock() - began
                lacking = sum(max(self.fewest - each.rounds, 0) * each.plan.round_seconds for each in pending)
                self.progress(made, VISITS * len(cells), sample, gone, max(budget - gone, lacking) if pending else 0.0)
                if own.stop:
                    yield sample

    def _calibrated(self, cells: Sequence[Cell], arms: Sequence[Arm]) -> list[_Plan]:
        plans, numbers = [], dict[tuple[str, str], int]()
        reference = next((arm.runs for arm in arms if arm.null), self.settings.reference)
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
            # Of a block, and of a repetition: a fast arm has many of them.
            costs = {runs: (whole, whole / n[runs]) for runs, whole in seconds.items()}
            slow = {
                arm
                for arm in own
                if all(c > FAR_SLOWER * r for c, r in zip(costs[arm.runs], costs.get(reference, NEVER), strict=True))
            }
            often = {arm: (SELDOM, first) if arm in seldom else (SELDOM if arm in slow else 1, 0) for arm in own}
            cost = sum(seconds[arm.runs] / every for arm, (every, _) in often.items())
            plans.append(_Plan(cell, often, n, frozenset(known), cost, len(own) * shortest))
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

    def _visit(self, own: "_Measurement", share_seconds: float, needed: int, is_last: bool) -> None:
        """Add rounds to a cell: until it has the `needed` ones, then as many as fit into the share of this visit."""
        began, plan = self.clock(), own.plan
        # The warm-up calibrates again, because a block may only have been long enough because it was cold or
        # interrupted. It is unlikely that two blocks in a row are interrupted for long.
        can_be_short = plan.cell.least_seconds < self._block_seconds(plan.cell)
        if can_be_short and not own.rounds and plan.shortest_seconds <= WARM_UP_SHARE * share_seconds * VISITS:
            with self.phases.during(WARM_UP):
                # A pace of an earlier launch is checked by the first round.
                for arm in plan.arms:
                    if not arm.null and arm.runs not in own.unchecked:
                        own.n[arm.runs], _ = self.calibrate(plan.cell, arm, own.n[arm.runs], in_a_row=2)
        self.disturbance()
        while not own.stop and (
            own.rounds < needed or self.clock() - began + own.seconds_of_next_round() <= share_seconds
        ):
            self._round(own)
            own.stop = self._reached(own)
        if is_last and not own.stop:
            own.stop = "budget"

    def _round(self, own: "_Measurement") -> None:
        plan, number, taken = own.plan, own.rounds, []
        present = plan.present(number)
        for position, arm in enumerate(self.random.sample(present, len(present))):
            start = self.clock()
            block = self.blocks.run(plan.cell, arm, own.n[arm.runs])
            if arm.runs in own.unchecked:
                own.unchecked.remove(arm.runs)
                if not block.fault and block.seconds < SHORT * self._block_seconds(plan.cell):
                    own.n[arm.runs], _ = self.calibrate(plan.cell, arm, own.n[arm.runs])
                    self.phases.seconds[CALIBRATION] += self.clock() - start
                    start = self.clock()
                    block = self.blocks.run(plan.cell, arm, own.n[arm.runs])
            own.block_seconds[arm] = self.clock() - start
            self.phases.add_block(arm, block.seconds, own.block_seconds[arm])
            taken.append((position, arm, own.n[arm.runs], round(start * 1e9), block))
        validity = self.disturbance()
        own.rounds += 1
        own.observations += [
            Observation(plan.cell, arm, number, position, times, start_ns, block, block.fault or validity)
            for position, arm, times, start_ns, block in taken
        ]

    def _reached(self, own: "_Measurement") -> str:
        """The rule by which a cell needs no more rounds, whatever time is left; or an empty string."""
        limits = self.settings.rounds
        if own.rounds < self.fewest:
            return ""
        if own.rounds >= limits.at_least and (
            unsettled(own.observations, self.settled, self.settings.reference) <= self.settings.target_width
        ):
            return "width"
        return "rounds" if own.rounds >= limits.at_most else ""


@dataclass(eq=False)
class _Measurement:
    """A cell while it is measured."""

    plan: _Plan
    n: dict[str, int]
    """The repetitions in each alternative's blocks."""
    unchecked: set[str]
    """The alternatives whose first block tells whether these are enough."""
    rounds: int = 0
    observations: list[Observation] = field(default_factory=list)
    block_seconds: dict[Arm, float] = field(default_factory=dict)
    """The whole seconds of each arm's last block."""
    stop: str = ""

    def seconds_of_next_round(self) -> float:
        """As long as the last blocks of its arms; without any, as the plan says."""
        last = self.block_seconds
        return sum(last.get(arm, 0.0) for arm in self.plan.present(self.rounds)) if last else self.plan.round_seconds


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
