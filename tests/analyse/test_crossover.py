"""Is a crossover found at its place, and only if the data show it?"""

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from synthetic import SIZES, campaign, campaigns

from crossover.analyse.estimates.crossover import Crossing, crossing, stretch
from crossover.analyse.estimates.intervals import estimate, pooled

NAN = float("nan")
HERE = 7000.0
RISING = 0.15 * np.log10(SIZES / HERE)

seeds = st.integers(0, 10**6)


def noisy(truth, seed=1, launches=5):
    """A campaign around `truth` with little noise."""
    random = np.random.default_rng(seed)
    return campaign(random, np.asarray(truth, float), launches, launch_sd=0.01, cell_sd=0.01)


def signs(text):
    """A curve of 13 cells: + where the arm is 30 % above the reference, - where below, 0 where equal."""
    return np.array([{"+": 0.3, "-": -0.3, "0": 0.0}[sign] for sign in text])


@pytest.mark.parametrize(
    ("curve", "verdict"),
    [
        ("0000000000000", "alike"),
        ("+++++++++++++", "always"),
        ("-------------", "always"),
        ("+++++++000000", "none"),
        ("0000-----0000", "none"),
        ("------+++++++", "one"),
        ("00---000++++0", "one"),
        ("---++++++----", "several"),
        ("--------0----", "none"),
        ("-+-+-+-+-+-+-", "several"),
    ],
)
def test_the_verdict_follows_from_the_significant_signs(curve, verdict):
    found = crossing(SIZES, noisy(signs(curve)))
    assert found.verdict == verdict
    if verdict != "one":
        assert found == Crossing(verdict, low=found.low, high=found.high)
        assert (found.low is not None) == ("0" in (curve[0], curve[-1]))


@pytest.mark.parametrize(
    ("curve", "cells"), [("+++++++000000", (6, 12)), ("000000+++++++", (0, 6)), ("0000000000000", (0, 12))]
)
def test_without_a_crossover_its_possible_range_is_given(curve, cells):
    found = crossing(SIZES, noisy(signs(curve)))
    first, last = (SIZES[cell] for cell in cells)
    assert found.x is None
    assert first <= found.low <= found.high <= last
    # Up to the end of the axis, or nearly up to a significant cell.
    assert found.low < first * (1 if cells[0] == 0 else SIZES[1] / SIZES[0]) * 1.001
    assert found.high > last / (1 if cells[1] == 12 else SIZES[1] / SIZES[0]) * 0.999


def test_if_only_holms_correction_leaves_cells_open_there_is_no_possible_range():
    # Each cell differs from zero at 95 %, but after the correction for two cells, none does.
    d = np.array([[0.9, 0.9], [1.0, 1.2], [2.0, 2.0], [0.4, 0.4]])
    assert (estimate(d).low > 0).all()
    assert crossing(SIZES[:2], d) == Crossing("open")


@pytest.mark.parametrize("launches", [3, 5, 10])
def test_the_interval_holds_the_crossover_in_about_95_of_100_campaigns(launches):
    random = np.random.default_rng(100 + launches)
    found = [crossing(SIZES, d) for d in campaigns(random, RISING, launches, 300)]
    held = [one.low is not None and one.low <= HERE <= one.high for one in found]
    found = [one for one in found if one.verdict == "one"]
    assert 0.93 - 2 * 0.22 / np.sqrt(len(held)) <= np.mean(held)
    assert np.median([one.x for one in found]) == pytest.approx(HERE, rel=0.15)


def test_the_test_begins_to_reject_at_the_ends_of_the_interval():
    launches = 4
    d = noisy(5 * RISING, seed=2, launches=launches)
    n, (a, b, _) = launches - 1, pooled(d)
    found = crossing(SIZES, d)
    assert np.searchsorted(SIZES, found.bracket_high) - np.searchsorted(SIZES, found.bracket_low) == 1
    for end in (found.low, found.high):
        left = np.searchsorted(SIZES, end) - 1
        far = np.log(end / SIZES[left]) / np.log(SIZES[left + 1] / SIZES[left])
        here = (1 - far) * d[:, left] + far * d[:, left + 1]
        # A launch's common shift applies between two cells too; its shifts of single cells partly average out.
        shared = (1 - far) * a[left] + far * a[left + 1]
        squares = (1 - far) ** 2 + far**2
        single = ((1 - far) ** 2 * b[left] + far**2 * b[left + 1]) / squares * (5 * squares - 1) / 4
        df = (shared + single) ** 2 / (shared**2 / n + single**2 / (4 * n))
        error = np.sqrt(max(here.var(ddof=1), shared + single) / launches)
        assert abs(here.mean()) == pytest.approx(stats.t.ppf(0.975, df) * error, rel=1e-4)


@pytest.mark.parametrize("slope", [1, -1])
def test_a_slow_crossover_and_its_interval_are_those_of_a_line_through_the_bracket(slope):
    random = np.random.default_rng(3)
    straighter = 0
    for d in campaigns(random, RISING, 10, 20):
        found = crossing(SIZES, slope * d)
        first, last = (int(np.searchsorted(SIZES, x)) for x in (found.bracket_low, found.bracket_high))
        if last - first < 3 or stretch(np.log(SIZES), d, d.mean(axis=0), first, last).bend != 0:
            continue
        straighter += 1
        inside = slice(first, last + 1)
        lines = np.polyfit(np.log10(SIZES[inside]), d[:, inside].T, 1)
        assert np.log10(found.x) == pytest.approx(-lines[1].mean() / lines[0].mean())
        for end in {found.low, found.high} - {found.bracket_low, found.bracket_high}:
            # Fieller: at the end of the interval, the launches' own lines just begin to differ significantly from zero.
            heights = lines[0] * np.log10(end) + lines[1]
            assert stats.ttest_1samp(heights, 0).pvalue == pytest.approx(0.05, rel=1e-3)
    assert straighter > 3


def test_between_equal_arms_a_crossover_is_hardly_ever_reported():
    random = np.random.default_rng(9)
    verdicts = [crossing(SIZES, d).verdict for d in campaigns(random, 0 * SIZES, 5, 400)]
    assert verdicts.count("open") + verdicts.count("alike") >= 0.93 * 400
    assert verdicts.count("one") + verdicts.count("several") <= 0.01 * 400


@pytest.mark.parametrize(("last", "place"), [(1.0, 10), (1e-15, 100), (1e-16, 100), (1e-20, 100)])
def test_launches_that_agree_leave_a_point_even_if_it_rounds_onto_a_measured_one(last, place):
    found = crossing(np.array([1.0, 100.0]), np.array([[-1.0, last]] * 3))
    assert astuple(found) == ("one", *[pytest.approx(place)] * 3, 1, 100)
    assert crossing(np.array([1.0, 100.0]), np.array([[-1.0, last]])) == Crossing("open")


def test_a_cell_that_no_launch_measured_is_skipped():
    d = noisy(RISING)
    d[:, 6] = NAN
    rest = np.arange(13) != 6
    assert crossing(SIZES, d) == crossing(SIZES[rest], d[:, rest])


@settings(max_examples=30)
@given(seeds, st.floats(1e-6, 1e6))
def test_other_units_on_the_axis_move_the_crossover_by_their_factor(seed, factor):
    d = noisy(RISING, seed)
    plain, scaled = astuple(crossing(SIZES, d)), astuple(crossing(factor * SIZES, d))
    assert scaled[0] == plain[0]
    assert scaled[1:] == pytest.approx([factor * number for number in plain[1:]])


@settings(max_examples=30)
@given(seeds)
def test_exchanging_arm_and_reference_keeps_the_crossover(seed):
    d = noisy(RISING, seed)
    assert crossing(SIZES, -d) == crossing(SIZES, d)


@settings(max_examples=30)
@given(seeds, st.permutations(range(5)))
def test_the_order_of_the_launches_does_not_matter(seed, order):
    d = noisy(RISING, seed)
    plain, shuffled = astuple(crossing(SIZES, d)), astuple(crossing(SIZES, d[order]))
    assert shuffled[0] == plain[0]
    assert shuffled[1:] == pytest.approx(plain[1:])


@given(
    hnp.arrays(
        float,
        st.tuples(st.integers(1, 10), st.integers(1, 9)),
        elements=st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, NAN]) | st.floats(-3, 3, allow_subnormal=False),
        fill=st.nothing(),
    ),
    st.booleans(),
)
def test_results_contain_no_nan_and_are_in_order(d, steep):
    if steep:
        d = d + np.linspace(-30, 30, d.shape[1])
    assume(d.size)
    found = crossing(SIZES[: d.shape[1]], d)
    assert found.low is None or SIZES[0] <= found.low <= found.high <= SIZES[d.shape[1] - 1]
    if found.verdict == "one":
        assert found.bracket_low <= found.low <= found.x <= found.high <= found.bracket_high
        assert {found.bracket_low, found.bracket_high} <= set(SIZES)
    else:
        assert found == Crossing(found.verdict, low=found.low, high=found.high)
