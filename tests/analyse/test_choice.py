"""Is the choice the arm that the launches show, with a bound that can be checked by hand?"""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from crossover.analyse.estimates.choice import choices
from crossover.records.outcome import OPEN, SAFER, SETTLED, SURE, WINNER

LAUNCHES = 10
"""So many that nothing is pooled, and each cell has the launches' own spread."""
SPREAD = np.linspace(-1, 1, LAUNCHES)[:, np.newaxis]


def found(*arms, spread=0.02):
    """What launches found of each arm by its means along the axis, relative to the first; they scatter in turn."""
    better = {"a": np.zeros((LAUNCHES, len(arms[0])))}
    for number, means in enumerate(arms, 1):
        better["abcdefgh"[number]] = np.array(means) + spread * np.roll(SPREAD, 3 * number)
    return better


def test_the_guarantee_is_the_largest_bound_over_all_others():
    d = found([0.02], [0.05])
    (choice,) = choices(d, bias=0.03)
    assert choice.arm == "c" and choice.next == "b" and choice.launches == LAUNCHES

    def bound(other):
        loss = d[other][:, 0] - d["c"][:, 0]
        error = loss.std(ddof=1) / np.sqrt(LAUNCHES)
        error = np.hypot(error, 0.03 / t.ppf(0.975, LAUNCHES - 1))
        return loss.mean() + t.ppf(1 - 0.05 / 2, LAUNCHES - 1) * error

    assert np.log(choice.guarantee) == pytest.approx(max(bound("a"), bound("b"), 0))
    assert choice.factor[0] == pytest.approx(np.exp(0.03))


@pytest.mark.parametrize(
    ("means", "verdict", "left"),
    [
        ([[1.0], [2.0]], WINNER, ()),
        ([[1.0], [1.01]], SETTLED, ("b",)),
        ([[-1.0], [-1.0]], WINNER, ()),
        ([[0.0], [-1.0]], SETTLED, ("b",)),
    ],
)
def test_a_winner_beats_all_others_and_those_left_are_not_beaten(means, verdict, left):
    (choice,) = choices(found(*means), bias=0.0)
    assert choice.verdict == verdict and len(choice.left) == len(left)
    assert choice.guarantee == 1 if verdict == WINNER else choice.guarantee < 1.25


def test_noise_or_bias_leaves_a_point_open_and_tells_the_launches_that_would_settle_it():
    (noisy,) = choices(found([0.01], spread=0.7), bias=0.0)
    assert noisy.verdict == OPEN and noisy.launches < noisy.launches_needed <= 4 * noisy.launches
    (biased,) = choices(found([0.01]), bias=0.5)
    assert biased.verdict == OPEN and biased.launches_needed is None


def test_among_open_arms_that_cost_nearly_the_same_the_choice_does_not_change():
    alike = choices(found([0.02, -0.02, 0.02, -0.02], spread=0.7), bias=0.0)
    assert {each.verdict for each in alike} == {OPEN} and len({each.arm for each in alike}) == 1
    # Neither to another arm and back for less than the factor, although that would be within 1.25 there.
    back = choices(found([0.2, 0.2, -0.02, 0.2], spread=0.4), bias=0.0)
    assert {each.arm for each in back} == {"b"}
    unlike = choices(found([0.3, -0.3, 0.3, -0.3], spread=0.7), bias=0.0)
    assert [each.arm for each in unlike] == ["b", "a", "b", "a"]
    assert [each.change for each in unlike] == ["", SAFER, SAFER, SAFER]
    for each in (*alike, *back, *unlike):
        assert each.guarantee <= 1.2 * max(1.25, min(each.costs.values()))


def test_a_change_is_sure_where_the_arm_before_is_surely_beaten_further_on():
    (change,) = (each for each in choices(found([-1, -1, 0.0, 0.0, 1.0, 1.0]), bias=0.0) if each.change)
    assert (change.arm, change.change, change.between) == ("b", SURE, (1, 4))


def test_arms_of_different_launches_are_compared_through_the_reference_with_both_biases():
    together = found([0.3])
    apart = {arm: np.full((2 * LAUNCHES, 1), np.nan) for arm in "bc"}
    apart["b"][:LAUNCHES] = together["b"]
    apart["c"][LAUNCHES:] = together["b"] - 0.02
    (choice,) = choices(apart, bias=0.1)
    assert choice.arm == "b" and choice.launches == LAUNCHES
    assert np.log(choice.guarantee) > t.ppf(0.95, 2 * LAUNCHES) * np.sqrt(2) * 0.1 / t.ppf(0.975, LAUNCHES) - 0.02


def test_without_a_second_launch_a_second_arm_or_a_bias_there_is_no_choice():
    assert choices({arm: d[:1] for arm, d in found([1.0]).items()}, bias=0.0) == []
    assert choices({"a": np.zeros((3, 1))}, bias=0.0) == []
    assert choices(found([1.0]), bias=np.nan) == []
    gap = found([1.0, 1.0])
    gap["b"][1:, 0] = np.nan
    assert [each.cell for each in choices(gap, bias=0.0)] == [1]


values = st.floats(-2, 2)


@given(
    st.lists(st.lists(values, min_size=3, max_size=3), min_size=1, max_size=5), st.floats(0.001, 0.5), st.floats(0, 0.2)
)
def test_a_choice_is_consistent_whatever_was_measured(means, spread, bias):
    d = found(*means, spread=spread)
    for each in choices(d, bias):
        best = max(d, key=lambda arm: d[arm][:, each.cell].mean())
        lost = d[best][:, each.cell].mean() - d[each.arm][:, each.cell].mean()
        # The observed loss is within the guarantee, and nobody beaten is chosen.
        assert np.log(each.guarantee) >= lost - 1e-9
        assert each.arm not in each.left and each.next != each.arm
        assert best == each.arm or best in each.left
        assert (each.verdict == WINNER) == (not each.left)
        assert each.verdict != SETTLED or each.guarantee <= 1.25 + 1e-9
        assert each.factor[1] <= each.factor[0] <= each.factor[2]
        json.dumps([each.left, each.launches, each.launches_needed])
