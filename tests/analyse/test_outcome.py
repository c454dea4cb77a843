"""Is a point better, worse, alike or open by one rule, and are differences between equal arms rare?"""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic import SIZES, campaigns

from crossover.analyse.estimates.crossover import crossing
from crossover.analyse.estimates.intervals import Estimate, alike, estimate, launches_needed, verdicts
from crossover.records.outcome import ALIKE, BETTER, HORIZON, OPEN, WORSE, Outcome

numbers = st.floats(-1, 1)


def cells(means, error=0.01, df=10.0):
    size = len(means)
    return Estimate(np.array(means), np.full(size, error), np.full(size, df))


def test_each_verdict_has_its_place():
    assert verdicts(cells([0.5, -0.5, 0.01, np.nan])) == [BETTER, WORSE, ALIKE, OPEN]
    assert verdicts(cells([0.5, 0.2], error=0.5)) == [OPEN, OPEN]
    assert verdicts(cells([0.5, 0.01]).with_bias(np.nan)) == [OPEN, OPEN]


def test_a_small_difference_that_is_sure_is_better_and_not_alike():
    assert verdicts(cells([0.1])) == [BETTER] and alike(cells([0.1])).all()


@given(st.lists(numbers, min_size=1, max_size=13), st.floats(0.001, 0.3), st.floats(0, 0.3))
def test_bias_never_decides_a_point(means, error, bias):
    without, found = verdicts(cells(means, error)), verdicts(cells(means, error).with_bias(bias))
    for before, after in zip(without, found, strict=True):
        assert after == before or after in (OPEN, ALIKE)


@given(st.lists(numbers, min_size=1, max_size=13), st.floats(0.001, 0.3))
def test_arm_and_reference_exchange_their_verdicts(means, error):
    mirrored = {BETTER: WORSE, WORSE: BETTER}
    found = verdicts(cells([-mean for mean in means], error))
    assert found == [mirrored.get(each, each) for each in verdicts(cells(means, error))]


@pytest.mark.parametrize("seed", range(4))
def test_the_crossover_follows_from_the_verdicts_of_its_points(seed):
    random = np.random.default_rng(seed)
    kinds = set()
    for truth in (0 * SIZES, 0.1 * np.arange(-6, 7), np.full(13, 0.3), np.where(SIZES > 1e4, 0.3, 0.0)):
        for d in campaigns(random, truth, 3, 20):
            told = verdicts(estimate(d).with_bias(0.03))
            sides = [one for one in told if one in (BETTER, WORSE)]
            changes = sum(first != second for first, second in pairwise(sides))
            wanted = {0: "none", 1: "one"}.get(changes, "several")
            if not changes:
                wanted = "always" if len(sides) == 13 else "none" if sides else ALIKE if {*told} == {ALIKE} else OPEN
            assert crossing(SIZES, d, 0.03).verdict == wanted
            kinds.add(wanted)
    assert len(kinds) >= 4


def test_equal_arms_differ_in_at_most_one_of_twenty_curves():
    every = campaigns(np.random.default_rng(7), 0 * SIZES, 3, 400)
    wrong = sum(bool({BETTER, WORSE} & {*verdicts(estimate(d))}) for d in every)
    # Of a share of 5 %, more than 7.6 % of 400 are a chance of one in a hundred.
    assert wrong <= 0.076 * 400


@given(st.floats(0.02, 0.5), st.floats(0.01, 0.3), st.floats(0, 0.1), st.integers(2, 6))
def test_as_many_launches_as_are_named_would_decide_a_point(mean, error, bias, now):
    own = cells([mean], error, df=now - 1.0)
    told = verdicts(own.with_bias(bias))
    (needed,) = launches_needed(own, bias, np.array([now]), told)
    assert (needed is None) or (told == [OPEN] and now < needed <= HORIZON * now)
    for more in range(now + 1, HORIZON * now + 1) if told == [OPEN] else ():
        shrunk = cells([mean], error * np.sqrt(now / more), df=more - 1.0).with_bias(bias)
        assert (verdicts(shrunk) != [OPEN]) == (needed is not None and more >= needed)


@given(st.floats(0.2, 5), st.floats(1.001, 2), st.floats(1, 2))
def test_the_least_and_the_most_enclose_the_ratio_in_either_direction(ratio, width, bias):
    found = Outcome(OPEN, ratio, ratio / width, ratio * width, bias, 3)
    assert 1 <= found.least <= max(ratio, 1 / ratio) <= found.most
