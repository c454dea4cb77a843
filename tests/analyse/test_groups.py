"""Are launches in two groups found, and are false groups rare?"""

import numpy as np
import pytest

from crossover.analyse.curves.curve import Curve
from crossover.analyse.estimators.groups import gap_over_rest, groups, p_of_one_population

RNG = np.random.default_rng


def curve(ratios, arm="Send", **changes):
    ratios = np.asarray(ratios, float)
    facts = {
        "experiment": "mpi_pingpong", "placement": "node", "protocol": "array", "metric": "round trip", "arm": arm,
        "reference": "send", "null": arm == "null", "ceiling": arm == "C",
    }  # fmt: skip
    counts = np.full(ratios.shape, 20.0)
    x = np.arange(1.0, 1 + ratios.shape[1])
    return Curve(facts | changes, list(range(1, len(ratios) + 1)), x, ratios, ratios, counts, counts)


def test_two_groups_are_reported_with_their_launches_and_means():
    """A real case: `Send` / `send` was .06 or .24, depending on the location of a launch's memory."""
    d = np.log([[0.06, 0.9], [0.24, 0.91], [0.061, 0.89], [0.059, 0.92], [0.24, 0.9]])
    lower, upper = groups([curve(d)])
    assert (lower["members"], upper["members"]) == ("1, 3, 4", "2, 5")
    assert (lower["launches"], upper["launches"]) == (3, 2)
    assert (lower["ratio"], upper["ratio"]) == pytest.approx((0.06, 0.24), rel=0.01)
    assert lower["x"] == upper["x"] == 1
    assert lower["p"] <= 0.05


def test_launches_without_a_value_belong_to_no_group():
    d = np.log([[0.06], [0.24], [0.061], [0.059], [np.nan], [0.2401]])
    lower, upper = groups([curve(d)])
    assert (lower["members"], upper["members"]) == ("1, 3, 4", "2, 6")


@pytest.mark.parametrize("launches", [3, 5, 10, 30])
def test_one_population_is_hardly_ever_split(launches):
    """In an experiment of twenty cells, at most one time in twenty."""
    found = sum(bool(list(groups([curve(RNG(seed).normal(0, 0.3, (launches, 20)))]))) for seed in range(200))
    assert found <= 20


def test_p_is_uniform_for_one_population():
    p = np.array([p_of_one_population(RNG(seed).normal(size=5)) for seed in range(2000)])
    assert np.quantile(p, [0.05, 0.5, 0.95]) == pytest.approx([0.05, 0.5, 0.95], abs=0.04)


def test_small_gaps_are_not_reported():
    d = np.array([[0.0], [0.0001], [0.0002], [0.05], [0.0501]])
    assert p_of_one_population(d[:, 0]) < 0.01
    assert list(groups([curve(d)])) == []


def test_null_arms_ceilings_and_few_launches_have_no_groups():
    d = np.log([[0.06], [0.24], [0.061], [0.059], [0.24]])
    assert list(groups([curve(d, arm="null"), curve(d, arm="C"), curve(d[:2])])) == []


def test_equal_launches_are_one_group():
    assert p_of_one_population(np.ones(5)) == 1
    assert gap_over_rest(np.array([1.0, 1.0, 2.0, 2.0])) == np.inf
