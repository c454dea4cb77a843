"""Is a farm's minimum effective task granularity right, and given only if the data show it?"""

import numpy as np
import pytest

from crossover.analyse.estimates.crossover import Crossing, threshold

NAN = float("nan")
DURATIONS = np.logspace(3, 6, 7)
"""Two points per decade, 1 ms to 1 s, in microseconds."""


def efficiencies(overhead_us, launches=5, seed=1, x=DURATIONS, launch_sd=0.05, cell_sd=0.05):
    """Launch medians, shape (launches, cells), of a farm with an overhead of `overhead_us` per task.

    The overhead differs from launch to launch and from cell to cell.
    """
    random = np.random.default_rng(seed)
    shift = launch_sd * random.standard_normal((launches, 1)) + cell_sd * random.standard_normal((launches, len(x)))
    return x / (x + overhead_us * np.exp(shift))


@pytest.mark.parametrize(("level", "factor"), [(0.5, 1), (0.95, 19)])
@pytest.mark.parametrize("overhead_us", [2000, 7000, 20_000])
def test_a_constant_overhead_gives_the_right_thresholds(level, factor, overhead_us):
    """A task has half efficiency if it lasts as long as its overhead, and 95 % if it lasts 19 times as long."""
    found = threshold(DURATIONS, efficiencies(overhead_us), level)
    assert found.verdict == "from"
    assert found.x == pytest.approx(factor * overhead_us, rel=0.1)
    assert found.bracket_low <= found.low < found.x < found.high <= found.bracket_high
    assert {found.bracket_low, found.bracket_high} <= set(DURATIONS)


@pytest.mark.parametrize(("launches", "level", "truth"), [(3, 0.5, 4000), (5, 0.95, 19 * 4000)])
def test_the_interval_holds_the_truth_in_about_95_of_100_campaigns(launches, level, truth):
    found = [threshold(DURATIONS, efficiencies(4000, launches, seed), level) for seed in range(200)]
    placed = [one for one in found if one.verdict == "from"]
    assert len(placed) > 160
    held = np.mean([one.low <= truth <= one.high for one in placed])
    assert held >= 0.93 - 2 * 0.22 / np.sqrt(len(placed))


LOW, LEVEL, HIGH = 0.2, 0.5, 0.8


def curve(text, launches=4, seed=3):
    """Launch medians of a curve that is above half efficiency at +, below at -, and close to it at 0."""
    random = np.random.default_rng(seed)
    centre = np.array([{"+": HIGH, "-": LOW, "0": LEVEL}[sign] for sign in text])
    return centre + 0.01 * random.standard_normal((launches, len(text)))


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("---++++", "from"),
        ("--00+++", "from"),
        ("++++---", "up to"),
        ("+++++++", "always"),
        ("-------", "never"),
        ("00+++++", "at the latest"),
        ("----000", "not yet"),
        ("++---++", "several"),
        ("0000000", "open"),
        # A curve that ends above the level may fall below it again.
        ("00+++00", "partly"),
        ("00---00", "open"),
    ],
)
def test_every_outcome_has_its_own_verdict(text, verdict):
    found = threshold(DURATIONS, curve(text), LEVEL)
    assert found.verdict == verdict
    assert (found.x is not None) == (verdict in ("from", "up to"))
    assert threshold(DURATIONS, curve(text, launches=1), LEVEL) == Crossing("open")


def test_a_bound_is_the_first_or_last_significant_point():
    late = threshold(DURATIONS, curve("0+0++++"), LEVEL)
    assert late == Crossing("at the latest", bracket_high=DURATIONS[3])
    early = threshold(DURATIONS, curve("---0-00"), LEVEL)
    assert early == Crossing("not yet", bracket_low=DURATIONS[2])
