"""Runs every estimator on many campaigns of known truth, and counts how often it is right."""

from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import signature

import numpy as np
from scipy.stats import beta, norm, t
from synthetic import NOISES, SIZES, arms, blocks, campaigns

from crossover.analyse.claims.judgement import Range, judge
from crossover.analyse.claims.readings import Result, peaks
from crossover.analyse.estimates import crossover, intervals
from crossover.analyse.estimates.crossover import crossing, threshold
from crossover.analyse.estimates.curve import Curve
from crossover.analyse.estimates.intervals import estimate, holm
from crossover.analyse.estimates.sensitivity import sensitivities
from crossover.measure.sampling.sampler import SELDOM
from crossover.records.record import CONFIDENCE, SIGNIFICANCE

STEP = np.arange(len(SIZES))
HERE = 5.4
"""Where the arms cross, in steps of the axis: between two cells, but not half way."""

SLOPES = {"5 % per step": np.log(1.05), "20 % per step": np.log(1.2)}
CURVES = {name: slope * (STEP - HERE) for name, slope in SLOPES.items()} | {
    "15 % per step, plateaus": 0.5 * np.tanh((STEP - HERE) * np.log(1.15) / 0.5)
}
"""Curves of log ratios: straight lines, and one that levels off at both ends."""

LEVELS = {"METG(50)": 0.5, "METG(95)": 0.95}
DURATIONS = np.logspace(3, 6, 7)
OVERHEAD = 4000.0
"""Overhead of a task, in the unit of DURATIONS. Half efficiency is between two points of the axis."""

BIASES = {"no bias": 0.0, "a bias of 2 %": np.log(1.02)}
"""The bias that both the arm and the null arm show, although their true ratio is 1."""

LOUD, NOISIER = 6, 3
"""The cell that is noisier than its neighbours, and by which factor."""

PEAKS = {"blunt": 0.005, "sharp": 0.05}
"""The curvature of log values around a peak, per square of a step."""

BIASED = 2
"""The bias of claims at the edge of their range, as a multiple of the standard error; normal."""

EDGE = Range(0.0, np.inf)
"""A range whose edge is the truth, so that either verdict is wrong."""

RARE = 4
"""False crossovers are counted in this many times more campaigns, because by design only about 5 % have one."""

COMPARED = 4
"""The width of a crossover's interval is compared in one of this many campaigns, because it doubles the time."""


@dataclass
class Intervals:
    """The intervals of one quantity."""

    held: list[np.ndarray] = field(default_factory=list)
    """For each campaign, whether the interval contains the truth; an array if the quantity has several cells."""
    held_where_shown: list[bool] = field(default_factory=list)
    """The same for campaigns that showed a place; in the others, the interval is of a possible place."""
    width: list[float] = field(default_factory=list)
    student: list[float] = field(default_factory=list)
    """Mean width of a campaign's intervals in logarithms, and that of Student's t on its launches."""
    error: list[float] = field(default_factory=list)
    """Distance of a crossover's estimate from the truth, in steps of its axis."""
    least_error: float = 0
    """Its median if only the launches' own effects, at the place of the crossover, moved the estimate."""

    @property
    def coverage(self):
        """The share of intervals that contain the truth."""
        return float(np.mean(self.held))

    @property
    def worst_cell(self):
        """The same for the cell with the smallest share."""
        return float(np.mean(self.held, axis=0).min())

    @property
    def shown(self):
        """The share of campaigns that showed a place; the others are undecided or show no crossover."""
        return len(self.held_where_shown) / len(self.held)

    @property
    def coverage_where_shown(self):
        """The share of these campaigns' intervals that contain the truth."""
        return float(np.mean(self.held_where_shown))

    @property
    def width_to_student(self):
        """Mean width / mean width of Student's intervals."""
        return float(np.mean(self.width) / np.mean(self.student))


@dataclass
class FalseVerdicts:
    """Verdicts that claim a difference, although there is none."""

    count: int
    of: int

    @property
    def share(self):
        """The share of curves with such a verdict."""
        return self.count / self.of

    @property
    def limit(self):
        """Upper 95 % limit of the share (Clopper and Pearson, Biometrika 26 (1934) 404)."""
        return float(beta.ppf(0.95, self.count + 1, self.of - self.count))


@contextmanager
def plain():
    """Switches off pooled variances and straight lines, which leaves Student's t on the launches of each cell."""
    window, doubt = intervals.WINDOW, crossover.DOUBT
    intervals.WINDOW, crossover.DOUBT = 1, 2
    try:
        yield
    finally:
        intervals.WINDOW, crossover.DOUBT = window, doubt


def calibrate(noise, launches, rounds, count):
    """Simulate `count` campaigns with a noise of NOISES, so many launches, and so many rounds in each.

    With fewer rounds than SELDOM, the null arm is in as large a part of the cells. Returns {quantity: Intervals} and
    {verdict: FalseVerdicts}.
    """
    random = np.random.default_rng([list(NOISES).index(noise), launches, *([rounds] if rounds < SELDOM else [])])
    kind = NOISES[noise] | {"rounds": rounds}
    batches = list(arms(random, 0 * SIZES, launches, count, **kind))
    reference, arm, ratios = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    null = campaigns(random, 0 * SIZES, launches, count, **kind)
    if rounds < SELDOM:
        null[random.random(null.shape) >= rounds / SELDOM] = np.nan
    flat = campaigns(random, 0 * SIZES, launches, RARE * count, **kind)
    # The truth of a median is the launches' average, slow blocks and drift included.
    level = reference.mean(axis=(0, 1))
    found = {"ratios": cells(ratios, 0 * STEP), "medians": cells(reference, level)}
    for name, curve in CURVES.items():
        found[f"crossover, {name}"] = places(ratios + curve, HERE, lambda d: crossing(np.exp(STEP), d))
        slope = np.interp(HERE, STEP, np.gradient(curve))
        found[f"crossover, {name}"].least_error = height(noise, launches) / slope
    efficiencies = DURATIONS / (DURATIONS + OVERHEAD * np.exp(arm - level)[:, :, : len(DURATIONS)])
    for name, share in LEVELS.items():
        truth = np.log(OVERHEAD * share / (1 - share))
        found[name] = places(efficiencies, truth, lambda shares, level=share: threshold(DURATIONS, shares, level))
    loud = np.where(STEP == LOUD, NOISIER, 1.0)
    found["noisy cell"] = cells(ratios * loud, 0 * STEP, at=LOUD)
    for name, bend in PEAKS.items():
        curve = -bend * (STEP - 6.0) ** 2
        found[f"peak, {name}"] = numbers([peaks(d + curve) for d in ratios], 0.0)
    wrong = {
        "crossover": FalseVerdicts(sum(crossing(SIZES, d).verdict not in ("open", "alike") for d in flat), len(flat))
    }
    edge = ratios.mean(axis=2)
    for verdict in ("holds", "smaller here"):
        bias = BIASED * edge.std(axis=1, ddof=1).mean() / np.sqrt(launches)
        moved = edge + bias * random.standard_normal((count, 1))
        results = (Result(estimate(d[:, np.newaxis]), [], "", True, np.array([1.96 * bias])) for d in moved)
        wrong[verdict] = FalseVerdicts(sum(judge(each, EDGE).verdict == verdict for each in results), count)
    for name, bias in BIASES.items():
        signs = random.choice([-1, 1], (2, count, 1, len(SIZES)))
        pairs = zip(ratios + bias * signs[0], null + bias * signs[1], strict=True)
        wrong[f"effect, {name}"] = FalseVerdicts(sum(claims(*pair) for pair in pairs), count)
    return found, wrong


def height(noise, launches):
    """The median absolute error of the mean log ratio at HERE that the launches' shifts of both arms cause.

    No estimator can avoid it, because a shift along the whole axis looks like a curve of another height.
    """
    one = NOISES[noise].get("launch_sd", signature(blocks).parameters["launch_sd"].default)
    here = np.interp(HERE, STEP, np.broadcast_to(one, STEP.shape))
    return norm.ppf(0.75) * here * np.sqrt(2 / launches)


def numbers(every, truth):
    """Student's intervals of one number per launch, in all campaigns."""
    found = Intervals()
    for own in every:
        one = estimate(own[:, np.newaxis])
        found.held.append((one.low <= truth) & (truth <= one.high))
        found.width.append(2 * one.margin.mean())
    found.student = found.width
    return found


def cells(medians, truth, at=slice(None)):
    """The intervals of the cells `at` in all campaigns; `truth` has the unit of `medians`."""
    found = Intervals()
    for d in medians:
        estimates = estimate(d)
        found.held.append(np.atleast_1d(((estimates.low <= truth) & (truth <= estimates.high))[at]))
        found.width.append(2 * estimates.margin.mean())
    launches = medians.shape[1]
    errors = medians.std(axis=1, ddof=1) / np.sqrt(launches)
    found.student = list(2 * t.ppf((1 + CONFIDENCE) / 2, launches - 1) * errors.mean(axis=1))
    return found


def places(curves, truth, locate):
    """The intervals of crossovers or thresholds; `truth` is the logarithm of the true place."""
    found = Intervals()
    for number, d in enumerate(curves):
        here = locate(d)
        found.held.append(here.low is not None and np.log(here.low) <= truth <= np.log(here.high))
        if here.x is not None:
            found.held_where_shown.append(found.held[-1])
            found.error.append(abs(np.log(here.x) - truth))
            if number % COMPARED:
                continue
            with plain():
                student = locate(d)
            if student.x is not None:
                found.width.append(np.log(here.high / here.low))
                found.student.append(np.log(student.high / student.low))
    return found


def claims(arm, null):
    """Whether in any cell the arm's difference is significantly larger than the possible bias."""
    facts = dict(
        experiment="", placement="", metric="", arm="arm", reference="reference", is_null_arm=False, ceiling=False
    )
    pair = [curve(facts, arm), curve(facts | {"arm": "null", "is_null_arm": True}, null)]
    (found,) = sensitivities(pair)
    return bool((holm(estimate(arm).with_bias(np.log(found["smallest_effect"])).p) <= SIGNIFICANCE).any())


def curve(facts, ratios):
    """A curve of these ratios."""
    behind = np.full(ratios.shape, 10.0)
    return Curve(facts, list(range(1, len(ratios) + 1)), SIZES, np.zeros_like(ratios), ratios, behind, behind)
