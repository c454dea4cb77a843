"""Are series that settle, series that do not, and noise distinguished?"""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossover.analyse.statistics import steady_state
from crossover.analyse.statistics.segmentation import cuts
from crossover.analyse.statistics.steady_state import LONGEST, SHORTEST, states


def judged(rows, tolerance=0.0):
    """The states of series of equal length, shape (series, rounds)."""
    rows = np.asarray(rows, float)
    which = np.repeat(np.arange(len(rows)), rows.shape[1])
    return states(rows.ravel(), which, np.full(len(rows), tolerance))


def noisy(random, levels, count=200, sd=0.02):
    """Series around `levels`, of shape (rounds,), with heavy tails and one slow block in twenty."""
    shape = (count, len(levels))
    return np.asarray(levels) + sd * random.standard_t(3, shape) + 0.3 * (random.random(shape) < 0.05)


def share(found, name):
    return np.mean([state.name == name for state in found])


@pytest.mark.parametrize("rounds", [10, 12, 16, 20, 30, 60, 100, 500])
def test_without_a_change_one_of_twenty_series_is_cut(rounds):
    found = judged(noisy(np.random.default_rng(rounds), np.zeros(rounds), 1500))
    # A share of 5 % in 1,500 series has a standard error of 0.6 %.
    assert 0.03 <= 1 - share(found, "flat") <= 0.07


@pytest.mark.parametrize("rounds", [20, 30, 100, 500])
@pytest.mark.parametrize(("step", "name"), [(-0.3, "warm-up"), (0.3, "slowdown")])
def test_a_level_that_changes_early_is_a_warm_up_or_a_slowdown(rounds, step, name):
    levels = np.where(np.arange(rounds) < rounds // 3, 0, step)
    found = judged(noisy(np.random.default_rng(1), levels))
    assert share(found, name) >= 0.85
    settled = [state.settled for state in found if state.name == name]
    assert np.median(settled) == pytest.approx(rounds // 3, abs=max(1, rounds // LONGEST))


def test_the_rounds_before_the_steady_state_are_counted_from_the_first_one():
    # 599 rounds are judged as 99 groups of six; the remaining rounds are at the beginning.
    (state,) = judged([np.where(np.arange(599) < 305, 0.0, -1.0) + 1e-3 * np.sin(np.arange(599))])
    assert (state.name, state.settled) == ("warm-up", 305)


def test_a_level_that_changes_late_is_no_steady_state():
    levels = np.where(np.arange(40) < 34, 0, 0.3)
    found = judged(noisy(np.random.default_rng(2), levels))
    assert share(found, "no steady state") >= 0.85
    assert {state.settled for state in found if state.name == "no steady state"} == {None}


def test_a_series_that_never_stops_rising_does_not_settle():
    # A slope has no single change of level, so some series are cut at the start of the last quarter. With a single cut
    # by the ranks of the whole series, most would be cut there.
    assert share(judged(noisy(np.random.default_rng(3), np.linspace(0, 1, 60))), "no steady state") >= 0.75


def test_a_series_that_gets_worse_then_better_then_as_at_first_is_a_slowdown():
    levels = np.repeat([0.0, -0.4, 0.0], 20)
    assert share(judged(noisy(np.random.default_rng(4), levels)), "slowdown") >= 0.85


def test_levels_within_the_tolerance_are_equal():
    levels = np.where(np.arange(40) < 10, 0.05, 0)
    series = noisy(np.random.default_rng(5), levels, sd=0.005)
    assert share(judged(series), "warm-up") >= 0.85
    assert share(judged(series, tolerance=0.1), "flat") >= 0.97


def test_a_single_slow_block_is_no_level():
    series = 0.001 * np.random.default_rng(6).standard_normal((200, 30))
    series[:, 2] += 100
    assert share(judged(series), "flat") >= 0.9


def test_values_that_are_all_the_same_are_flat():
    (state,) = judged([[1.0] * 12])
    assert (state.name, state.settled) == ("flat", 0)


def test_fewer_than_ten_rounds_are_not_judged():
    found = judged([[1.0] * 4 + [9.0] * 5])
    assert [(state.name, state.settled) for state in found] == [("too few rounds", None)]


def test_series_of_many_lengths_are_judged_each_by_itself():
    random = np.random.default_rng(7)
    lengths = [12, 0, 40, 9, 150]
    each = [np.where(np.arange(n) < n // 3, 0.5, 0) + 0.01 * random.standard_normal(n) for n in lengths]
    which = np.repeat(np.arange(len(lengths)), lengths)
    together = states(np.concatenate(each), which, np.zeros(len(lengths)))
    assert [state.name for state in together] == ["warm-up", "too few rounds", "warm-up", "too few rounds", "warm-up"]
    for number in (0, 2, 4):
        assert judged([each[number]]) == [together[number]]


def test_a_cut_that_a_second_look_finds_again_counts_once():
    # The first cuts are 9 and 16. A second look from 16 on adds 26; then all levels are within the tolerance.
    levels = np.repeat([-0.05, 0.08, -0.055, 0.0], [9, 7, 10, 9])
    found = judged(noisy(np.random.default_rng(8), levels, sd=0.005), tolerance=0.1)
    assert share(found, "flat") >= 0.6


def test_a_cut_after_the_settled_point_counts_once_after_a_second_look():
    # The first cuts are 15 and 30. The levels from 15 on agree within the tolerance, so a second look follows.
    levels = np.repeat([1.0, 0.08, 0.0], [15, 15, 20])
    found = judged(noisy(np.random.default_rng(9), levels, sd=0.01), tolerance=0.1)
    assert share(found, "warm-up") >= 0.85
    assert np.median([state.settled for state in found if state.name == "warm-up"]) == 15


def changing(random, count, rounds):
    """Series with up to five steps, some with a slope, some with ties, over noise of several sizes."""
    steps = random.integers(0, rounds, (count, 5, 1)) <= np.arange(rounds)
    sizes = random.normal(size=(count, 5)) * random.choice([0, 0.05, 0.2, 1], (count, 5))
    slopes = random.normal(size=(count, 1)) * (random.random((count, 1)) < 0.3) * np.linspace(0, 1, rounds)
    noise = random.choice([0, 0.01, 0.05, 0.2], (count, 1)) * random.standard_normal((count, rounds))
    series = (steps * sizes[:, :, np.newaxis]).sum(axis=1) + slopes + noise
    return np.where(random.random((count, 1)) < 0.3, series.round(1), series)


@pytest.mark.long
def test_any_series_has_complete_segments_and_settles_within_them(monkeypatch):
    lengths = range(10, 401)
    judge, most = steady_state._state, {}

    def checked(rounds, starts, tolerance):
        assert (np.diff([0, *starts, len(rounds)]) >= SHORTEST).all(), starts
        most[len(starts)] = most.get(len(starts), 0) + 1
        return judge(rounds, starts, tolerance)

    monkeypatch.setattr(steady_state, "_state", checked)
    random = np.random.default_rng(10)
    count = 100_000 // len(lengths) + 1
    for rounds in lengths:
        which = np.repeat(np.arange(count), rounds)
        found = states(changing(random, count, rounds).ravel(), which, random.choice([0, 0.02, 0.1], count))
        assert all(state.settled is None or 0 <= state.settled <= rounds - SHORTEST for state in found)
        assert all((state.settled is None) == (state.name == "no steady state") for state in found)
        assert all((state.settled == 0) == (state.name == "flat") for state in found)
    # Without several cuts in many series, the test would show nothing.
    assert sum(number for cuts, number in most.items() if cuts >= 3) > 10_000


def test_no_series_have_no_states():
    assert states(np.array([]), np.array([], int), np.array([])) == []


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(SHORTEST, 11), st.floats(0.1, 12))
def test_no_way_to_cut_a_series_costs_less(seed, rounds, penalty):
    random = np.random.default_rng(seed)
    values = random.standard_normal(rounds) + np.where(np.arange(rounds) < rounds // 2, 0, 3 * random.random())

    def cost(starts):
        return sum(((part - part.mean()) ** 2).sum() for part in np.split(values, starts)) + penalty * len(starts)

    possible = [
        starts
        for count in range(rounds // SHORTEST)
        for starts in combinations(range(1, rounds), count)
        if (np.diff([0, *starts, rounds]) >= SHORTEST).all()
    ]
    (found,) = cuts(values[np.newaxis], penalty, SHORTEST)
    assert cost(found) == pytest.approx(min(map(cost, possible)))


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.floats(-5, 5), st.floats(0.01, 100))
def test_neither_a_shift_nor_a_scale_changes_a_state(seed, shift, scale):
    series = noisy(np.random.default_rng(seed), np.repeat([0.1, 0.0], 10), count=5)
    assert judged(shift + scale * series) == judged(series)
