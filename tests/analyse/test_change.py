"""Is a change between two runs found, and are false changes rare?"""

import numpy as np
import pytest
from scipy import stats
from synthetic import SIZES, campaign, far_off

from crossover.analyse.estimates.intervals import difference, estimate, holm
from crossover.analyse.tables.compare import change

FLAT = 0 * SIZES
TEN_PERCENT = np.log(1.1)


def two_runs(random, before, after, truth=FLAT, launch_sd=0.02):
    """Log ratios of two runs; the second has changed by `truth`."""
    curve = 0.15 * np.log10(SIZES / 7000)
    return campaign(random, curve, before, launch_sd=launch_sd), campaign(
        random, curve + truth, after, launch_sd=launch_sd
    )


@pytest.mark.parametrize(("before", "after"), [(3, 3), (5, 5), (3, 8)])
def test_without_a_change_hardly_any_curve_is_reported(before, after):
    random = np.random.default_rng(before + after)
    found = [change(*two_runs(random, before, after)).differs <= 0.05 for _ in range(150)]
    # Two standard errors of 150 campaigns are 3.6 %.
    assert np.mean(found) <= 0.05 + 0.036


@pytest.mark.parametrize("launches", [3, 5])
def test_an_interval_of_a_change_holds_the_truth_in_about_95_of_100_campaigns(launches):
    random = np.random.default_rng(launches)
    cells, whole = [], []
    for _ in range(100):
        found = change(*two_runs(random, launches, launches, truth=FLAT + 0.2))
        cells.append(np.mean((found.cells.low <= 0.2) & (found.cells.high >= 0.2)))
        whole.append(found.whole.low[0] <= 0.2 <= found.whole.high[0])
    assert np.mean(cells) >= 0.93 - 0.02
    assert np.mean(whole) >= 0.95 - 0.044


def test_the_mean_of_a_curve_shows_a_small_change_that_no_cell_shows():
    random = np.random.default_rng(3)
    by_cells, by_curve = 0, 0
    for _ in range(40):
        before, after = two_runs(random, 5, 5, truth=FLAT + 0.04, launch_sd=0.005)
        found = change(before, after)
        by_cells += (holm(found.cells.p) <= 0.05).any()
        by_curve += found.differs <= 0.05
    assert by_curve >= 0.8 * 40 and by_curve > by_cells + 10


def test_an_arm_slowed_by_a_tenth_is_found_even_if_single_cells_are_far_off():
    random = np.random.default_rng(12)
    false, slowed = [], []
    for _ in range(60):
        before, after = (far_off(random, d) for d in two_runs(random, 5, 5))
        false.append(change(before, after).differs <= 0.05)
        slowed.append(change(before, after + TEN_PERCENT).verdict("lower", TEN_PERCENT) == "worse")
    assert np.mean(false) <= 0.05 + 0.057
    assert np.mean(slowed) >= 0.8


@pytest.mark.parametrize(
    ("truth", "better", "verdict", "noise"),
    [
        (FLAT + 0.3, "lower", "worse", 0.01),
        (FLAT + 0.3, "higher", "better", 0.01),
        (FLAT - 0.3, "lower", "better", 0.01),
        (np.where(SIZES < 7000, -0.3, 0.3), "lower", "mixed", 0.01),
        (FLAT, "lower", "same", 0.01),
        (FLAT, "lower", "open", 0.3),
    ],
)
def test_each_change_gives_the_right_verdict(truth, better, verdict, noise):
    before, after = two_runs(np.random.default_rng(2), 5, 5, truth=truth, launch_sd=noise)
    assert change(before, after).verdict(better, TEN_PERCENT) == verdict
    assert change(before, before + 0.25).whole.mean == pytest.approx([0.25])


def test_from_eight_launches_on_cells_are_tested_by_welchs_test():
    before, after = two_runs(np.random.default_rng(9), 8, 12, truth=FLAT + 0.03)
    welch = stats.ttest_ind(after, before, equal_var=False)
    cells = difference(estimate(after), estimate(before))
    assert cells.p == pytest.approx(welch.pvalue)
    assert cells.df == pytest.approx(welch.df)
    assert [cells.low, cells.high] == [pytest.approx(end) for end in welch.confidence_interval()]


def test_a_change_as_large_as_the_bound_is_hardly_ever_called_the_same():
    random = np.random.default_rng(6)
    same = [
        change(*two_runs(random, 4, 4, truth=FLAT + TEN_PERCENT)).whole.p_outside(-TEN_PERCENT, TEN_PERCENT)[0] <= 0.05
        for _ in range(100)
    ]
    assert np.mean(same) <= 0.05 + 0.044


def test_gaps_cost_cells_but_no_launch():
    before, after = two_runs(np.random.default_rng(8), 5, 5, truth=FLAT + 0.3)
    before[0, 3] = np.nan
    after[2, 6] = np.nan
    holes = np.full((1, len(SIZES)), np.nan)
    found = change(np.concatenate([before, holes]), after)
    complete = [cell for cell in range(len(SIZES)) if cell not in (3, 6)]
    alone = change(before[:, complete], after[:, complete]).whole
    assert (found.whole.mean, found.whole.error) == (pytest.approx(alone.mean), pytest.approx(alone.error))
    assert not np.isnan(found.cells.p).any() and found.verdict("lower", TEN_PERCENT) == "worse"


def test_without_a_cell_of_all_launches_only_the_cells_are_tested():
    before, after = two_runs(np.random.default_rng(8), 4, 4, truth=FLAT + 0.5)
    before[np.arange(len(SIZES)) % 4, np.arange(len(SIZES))] = np.nan
    found = change(before, after)
    assert np.isnan(found.whole.mean).all()
    assert found.p[:-1] == pytest.approx(holm(found.cells.p))
    assert found.verdict("lower", TEN_PERCENT) == "worse"


def test_a_rejected_hypothesis_passes_its_weight_on():
    p = np.array([0.012, 0.02, 0.001])
    assert holm(p, np.array([0.25, 0.25, 0.5])) == pytest.approx([0.024, 0.024, 0.002])
    assert holm(p, np.array([0.5, 0.5, 0.0]))[2] == 1
    assert holm(p, np.ones(3)) == pytest.approx(holm(p))
