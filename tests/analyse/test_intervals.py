"""Do the intervals and tests of cells have their coverage and error rates?"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from synthetic import NOISES, SIZES, campaign, campaigns

from crossover.analyse.estimates.intervals import Estimate, between, estimate, holm, pooled

TRUTH = 0.15 * np.log10(SIZES / 7000)
NAN = float("nan")

finite = st.floats(-5, 5, allow_subnormal=False)
gappy = hnp.arrays(
    float, st.tuples(st.integers(1, 10), st.integers(1, 9)), elements=finite | st.just(NAN), fill=st.nothing()
)


def student(d):
    """Half the width of each cell's plain interval, and its p-value."""
    error = d.std(axis=0, ddof=1) / np.sqrt(len(d))
    return stats.t.ppf(0.975, len(d) - 1) * error, stats.ttest_1samp(d, 0).pvalue


@pytest.mark.parametrize("launches", [3, 5, 10])
@pytest.mark.parametrize("noise", NOISES)
def test_an_interval_holds_the_truth_in_about_95_of_100_campaigns(launches, noise):
    random = np.random.default_rng(launches)
    held = []
    for d in campaigns(random, TRUTH, launches, 250, **NOISES[noise]):
        cells = estimate(d)
        held.append(np.mean((cells.low <= TRUTH) & (cells.high >= TRUTH)))
    # Cells of a campaign share its launches, so the coverage has the error of 250 means: at most 1.4 %.
    assert 0.93 - 0.028 <= np.mean(held) <= 0.98 + 0.028


@pytest.mark.parametrize(("launches", "share"), [(3, 0.88), (5, 0.97)])
def test_pooling_the_variance_narrows_the_intervals_of_few_launches(launches, share):
    random = np.random.default_rng(3)
    many = campaigns(random, TRUTH, launches, 200)
    widths = np.mean([[estimate(d).margin.mean(), student(d)[0].mean()] for d in many], axis=0)
    assert widths[0] < share * widths[1]


def test_between_equal_arms_hardly_any_campaign_has_a_significant_cell():
    random = np.random.default_rng(5)
    false = [(holm(estimate(d).p) <= 0.05).any() for d in campaigns(random, 0 * TRUTH, 5, 400)]
    assert np.mean(false) <= 0.05 + 0.022


@pytest.mark.parametrize(("launches", "cells"), [(8, 13), (3, 1)])
def test_from_eight_launches_or_for_a_lone_cell_the_interval_is_students(launches, cells):
    d = campaign(np.random.default_rng(8), TRUTH, launches)[:, :cells]
    margin, p = student(d)
    assert estimate(d).margin == pytest.approx(margin)
    assert estimate(d).p == pytest.approx(p)


def test_the_pooled_variance_agrees_with_its_formula():
    d = campaign(np.random.default_rng(2), TRUTH, 4)
    n, x = 3, 6
    r = d - d.mean(0)
    q = r[:, x - 2 : x + 3]
    msb = 5 * (q.mean(1) ** 2).sum() / n
    msc = ((q - q.mean(1, keepdims=True)) ** 2).sum() / (4 * n)
    a, b = msb / 5, 4 * msc / 5
    assert [*(part[x] for part in pooled(d)[:2]), pooled(d)[2]] == pytest.approx([a, b, 5])
    cell = estimate(d)
    assert cell.df[x] == pytest.approx((a + b) ** 2 / (a * a / n + b * b / (4 * n)))
    assert cell.error[x] == pytest.approx(np.sqrt(max(r[:, x].var(ddof=1), a + b) / 4))


def test_the_window_shifts_inwards_at_the_ends_of_the_axis():
    d = campaign(np.random.default_rng(2), TRUTH, 4)
    for part in pooled(d)[:2]:
        assert part[0] == part[1] == part[2] != part[3]
        assert part[12] == part[11] == part[10] != part[9]
    assert pooled(d[:, :3])[2] == 3


def test_a_cell_noisier_than_its_neighbours_keeps_its_noise():
    d = campaign(np.random.default_rng(4), TRUTH, 5)
    d[:, 6] += np.array([-1, 1, -1, 1, 0])
    own = d[:, 6].std(ddof=1) / np.sqrt(5)
    assert estimate(d).error[6] == pytest.approx(own)


def test_a_gap_costs_no_launch_at_the_cells_around_it():
    d = campaign(np.random.default_rng(6), TRUTH, 4)
    gapped = d.copy()
    gapped[2, 5] = NAN
    cells, whole = estimate(gapped), estimate(d)
    others = np.arange(13) != 5
    assert np.array_equal(cells.mean[others], whole.mean[others])
    assert cells.mean[5] == pytest.approx(d[[0, 1, 3], 5].mean())
    assert np.array_equal(cells.error[9:], whole.error[9:])
    # The variance of cell 4 is pooled over the nearest five complete cells: 2, 3, 4, 6, 7.
    assert cells.error[4] == pytest.approx(estimate(np.delete(d, 5, axis=1)).error[4])


def test_holm_multiplies_the_smallest_p_by_the_number_of_cells_and_keeps_the_order():
    assert holm(np.array([0.04, 0.01, 0.03])) == pytest.approx([0.06, 0.03, 0.06])
    assert holm(np.array([0.9, 0.8])) == pytest.approx([1, 1])


@given(gappy)
def test_cells_with_two_launches_have_no_nan(d):
    measured = (~np.isnan(d)).sum(axis=0)
    cells = estimate(d)
    assert np.array_equal(np.isnan(cells.mean), measured == 0)
    assert np.array_equal(np.isnan(cells.low) | np.isnan(cells.high), measured < 2)
    assert np.all((cells.p >= 0) & (cells.p <= 1))


@given(gappy, st.randoms(use_true_random=False))
def test_the_order_of_the_launches_does_not_matter(d, random):
    order = random.sample(range(len(d)), len(d))
    assert estimate(d[order]).low == pytest.approx(estimate(d).low, abs=1e-9, nan_ok=True)


@given(gappy)
def test_exchanging_arm_and_reference_mirrors_the_interval(d):
    assert np.array_equal(estimate(-d).low, -estimate(d).high, equal_nan=True)


def single(mean, error=0.01, df=4):
    return Estimate(np.array([mean]), np.array([error]), np.array([float(df)]))


@given(st.floats(-0.1, 0.1), st.floats(1e-3, 0.1), st.integers(1, 20), st.floats(0, 0.1))
def test_chance_and_bias_add_in_quadrature(mean, error, df, bias):
    alone = single(mean, error, df)
    assert alone.with_bias(bias).margin[0] == pytest.approx(np.hypot(alone.margin[0], bias))
    assert (alone.with_bias(bias).p[0] <= 0.05) == (abs(mean) >= np.hypot(alone.margin[0], bias))


@given(st.floats(-0.1, 0.1), st.floats(1e-3, 0.1), st.integers(1, 20), st.floats(0.001, 0.2))
def test_equivalence_is_the_larger_of_two_one_sided_tests(mean, error, df, bound):
    sides = stats.t.sf((mean + bound) / error, df), stats.t.cdf((mean - bound) / error, df)
    assert single(mean, error, df).p_outside(-bound, bound)[0] == pytest.approx(max(sides))


def test_one_launch_shows_nothing_and_launches_that_agree_to_the_last_bit_are_certain():
    cell = estimate(np.array([[0.3]]))
    assert (cell.mean[0], cell.with_bias(0.1).p[0], cell.p_outside(-1.0, 1.0)[0]) == (0.3, 1, 1)
    unknown = single(0.3).with_bias(np.nan)
    assert np.isnan([unknown.low[0], unknown.high[0]]).all() and unknown.p[0] == 1
    cells = estimate(np.tile([0.0, 0.05, 0.2], (4, 1)))
    assert cells.p.tolist() == [1, 0, 0]
    assert cells.p_outside(-0.1, 0.1).tolist() == [0, 0, 1]


def test_a_place_half_way_between_two_cells_is_their_mean():
    d = campaign(np.random.default_rng(4), np.linspace(0, 1, 13), 4)
    cells = estimate(d)
    found = between(d, cells.mean, 6, np.array([0.0, 0.5]))
    assert found.mean == pytest.approx([cells.mean[6], cells.mean[6:8].mean()])
    assert found.error[0] == pytest.approx(cells.error[6])
    assert found.df[0] == pytest.approx(cells.df[6])
