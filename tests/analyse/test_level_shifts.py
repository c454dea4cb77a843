"""Is a change of level found, and are false ones rare?"""

import numpy as np
import pytest

from crossover.analyse.compare.level_shifts import FEWEST, starts


@pytest.mark.parametrize("tails", [None, 3])
@pytest.mark.parametrize("runs", [FEWEST, 12, 20])
def test_without_a_change_at_most_one_history_in_twenty_has_one(runs, tails):
    random = np.random.default_rng(runs)
    shape = (1500, runs)
    histories = random.standard_normal(shape) if tails is None else random.standard_t(tails, shape)
    # One standard error of 1,500 histories is 0.6 %.
    assert np.mean([bool(starts(values)) for values in histories]) <= 0.05 + 0.006


@pytest.mark.parametrize(("runs", "size"), [(20, 3), (10, 6)])
def test_a_change_half_way_is_found_within_a_run_of_its_place(runs, size):
    random = np.random.default_rng(1)
    found = [starts(random.standard_normal(runs) + size * (np.arange(runs) >= runs // 2)) for _ in range(200)]
    assert np.mean([len(one) == 1 and abs(one[0] - runs // 2) <= 1 for one in found]) >= 0.9


def test_two_changes_are_both_found():
    level = np.repeat([0.0, 1.0, 0.3], 6)
    assert starts(level + 0.02 * np.random.default_rng(2).standard_normal(18)) == [6, 12]


def test_one_run_that_went_wrong_is_no_change():
    values = 0.01 * np.random.default_rng(3).standard_normal(12)
    values[5] += 0.5
    assert starts(values) == []


def test_a_unit_does_not_matter():
    values = np.repeat([0.0, 1.0], 5) + 0.05 * np.random.default_rng(4).standard_normal(10)
    assert starts(values) == starts(1e-6 * values) == starts(values + 100) == [5]


def test_few_runs_and_runs_that_agree_to_the_last_bit_show_no_change():
    assert starts(np.repeat([0.0, 9.0], [2, 3])) == []
    assert starts(np.zeros(10)) == []
