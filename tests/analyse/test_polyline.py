"""Is a curve treated as a line only if it can be one?"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from synthetic import SIZES, campaigns

from crossover.analyse.estimates.crossover import DOUBT, stretch
from crossover.analyse.estimates.intervals import complete_around, error_of_mean, pooled

NAN = float("nan")
U = np.log(SIZES)
STEPS = np.arange(13.0)
SLOW = np.log(1.05) * (STEPS - 5.4)


def whole(d, u=U):
    """The stretch over all cells."""
    return stretch(u, d, np.nanmean(d, axis=0), 0, d.shape[1] - 1)


def noise(launches, count=1, seed=1):
    """Campaigns in which launches shift single cells by more than the whole curve."""
    random = np.random.default_rng(seed)
    return campaigns(random, 0 * SIZES, launches, count, launch_sd=0.03, cell_sd=0.04)


@pytest.mark.parametrize("launches", [3, 10])
def test_straight_curves_are_doubted_at_the_stated_rate(launches):
    drawn = [whole(d + SLOW).bend is not None for d in noise(launches, 600)]
    # Two and a half standard deviations of the share in this many campaigns.
    assert np.mean(drawn) == pytest.approx(1 - DOUBT, abs=0.04)


@pytest.mark.parametrize(
    "curve",
    [
        np.where(STEPS < 6, -0.2, 0.2),
        np.where(STEPS < 6, 0.3, 0.02) * (STEPS - 6),
        0.5 * np.tanh(STEPS - 6),
        0.02 * (STEPS - 6) ** 2 - 0.1,
    ],
    ids=["a cliff", "a bend", "two plateaus", "a valley"],
)
def test_a_curve_that_is_not_straight_is_no_line(curve):
    lines = [whole(d + curve).bend is not None for d in noise(3, 50)]
    assert sum(lines) <= 2


def test_a_line_is_fitted_by_least_squares_even_on_an_uneven_axis():
    u = U[[0, 1, 2, 5, 6, 11, 12]]
    random = np.random.default_rng(2)
    d = 0.1 * (u - u[3] - 0.3) + 0.02 * random.standard_normal((4, 1)) + 0.01 * random.standard_normal((4, len(u)))
    line = whole(d, u)
    slope, height = np.polyfit(u, d.mean(axis=0), 1)
    assert line.bend is not None
    (zero,) = line.zeros
    assert np.interp(zero, np.arange(7), u) == pytest.approx(-height / slope)
    places = np.array([0, 2.5, 3, 6])
    assert line.at(places).mean == pytest.approx(height + slope * np.interp(places, np.arange(7), u))


def test_from_eight_launches_on_a_lines_error_comes_from_the_launches_lines_and_the_bend():
    (d,) = noise(10)
    line = whole(d + SLOW, STEPS)
    place = 8.25
    single = [np.polyval(np.polyfit(STEPS, each, 1), place) for each in d + SLOW]
    weights = np.linalg.lstsq(np.vander(STEPS, 2), np.eye(13))[0].T @ [place, 1]
    rest = (d + SLOW).mean(axis=0) - np.polyval(np.polyfit(STEPS, (d + SLOW).mean(axis=0), 1), STEPS)
    residuals = d - d.mean(axis=0) - d.mean(axis=1, keepdims=True) + d.mean()
    bend = max((rest**2).sum() / 11 - (residuals**2).sum() / (9 * 12) / 10, 0)
    here = line.at(np.array([place]))
    assert line.bend == pytest.approx(bend)
    assert here.error == pytest.approx(np.sqrt(stats.sem(single) ** 2 + bend * (weights**2).sum()))
    assert here.df == 9


def test_without_a_line_estimates_at_points_are_those_of_their_cells():
    (d,) = noise(3)
    broken = replace(whole(d + SLOW), bend=None)
    a, b, width = pooled(d)
    error, df = error_of_mean(d, a, b, width)
    found = broken.at(STEPS)
    assert found.mean == pytest.approx((d + SLOW).mean(axis=0))
    assert (found.error, found.df) == (pytest.approx(error), pytest.approx(df))


def test_a_line_needs_two_launches_with_all_its_points():
    (d,) = noise(4)
    d = d + SLOW
    assert whole(d[:, 5:8]).bend is not None
    d[:3, 6] = NAN
    assert len(complete_around(d, 5, 7)[0]) == 1
    assert stretch(U, d, np.nanmean(d, axis=0), 5, 7).bend is None
    assert whole(np.tile(SLOW, (3, 1))).bend is None
    for cells in (1, 2):
        assert whole(d[:, :cells], U[:cells]).bend is None
