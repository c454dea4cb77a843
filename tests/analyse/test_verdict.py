"""Is a claim judged only by its interval and by the possible bias?"""

import numpy as np
import pytest

from crossover.analyse.claims.judgement import Range, judge
from crossover.analyse.claims.readings import Place, Result, apart
from crossover.analyse.estimates.intervals import Estimate, estimate

INF = np.inf
NAN = float("nan")


def found(*numbers, margin=0.05, effect=0.02, df=10.0, **told):
    """Numbers with intervals of `margin` on both sides."""
    one = Estimate(np.zeros(1), np.ones(1), np.array([df])).margin[0]
    count = len(numbers)
    errors, effects = np.full(count, margin / one), np.full(count, effect)
    known = Estimate(np.array(numbers, float), errors, np.full(count, df))
    return Result(known, [], "", True, effects, [None] * count, [""] * count, **told)


@pytest.mark.parametrize(
    ("number", "verdict", "reason"),
    [
        (found(0.5), "holds", "within the expected range"),
        (found(0.27), "open", "its interval reaches beyond"),
        (found(0.22), "open", "it lies outside, but not beyond chance and possible bias"),
        (found(0.1), "smaller here", "it lies outside, beyond chance and possible bias"),
        (found(1.2), "larger here", "it lies outside, beyond chance and possible bias"),
        (found(0.1, effect=0.2), "open", "it lies outside, but not beyond"),
        (found(0.4, effect=0.2), "open", "moved by the possible bias, it could lie outside"),
        (found(0.5, margin=NAN), "open", "not replicated"),
        (found(0.5, effect=NAN), "open", "no null arm"),
        (found(5.0, effect=NAN), "open", "no null arm"),
        (found(0.5, missing="`lru`: a hole"), "not measured", "`lru`: a hole"),
        (found(0.1, missing="`lru`: a hole"), "smaller here", "it lies outside"),
    ],
)
def test_a_claim_holds_within_its_range_and_is_larger_smaller_or_undecided_beyond(number, verdict, reason):
    judged = judge(number, Range(0.25, 1.0))
    assert judged.verdict == verdict
    assert reason in judged.reason


@pytest.mark.parametrize("expected", [Range(-0.1, 0.1), Range(-INF, 0.1), Range(-0.1, INF)])
def test_a_claim_holds_only_if_chance_and_bias_together_cannot_move_it_out_of_range(expected):
    # The root of .05 squared plus .086 squared is just below .1.
    assert judge(found(0.0, effect=0.086), expected).verdict == "holds"
    assert judge(found(0.0, effect=0.087), expected).verdict == "open"


def test_equivalence_is_tested_by_two_one_sided_tests():
    """Each at 5 %, so equivalence may hold although the 95 % interval reaches slightly beyond the bound."""
    bound = np.log(1.1)
    near = found(bound - 0.046, margin=0.05)
    assert judge(near, Range(-bound, bound)).verdict == "open"
    assert judge(near, Range(-bound, bound, equivalent=True)).verdict == "holds"
    assert judge(found(bound - 0.02, margin=0.05), Range(-bound, bound, equivalent=True)).verdict == "open"


def test_one_of_several_numbers_decides_only_after_correction_for_their_count():
    barely = 0.25 - 0.055
    assert judge(found(barely), Range(0.25, 1)).verdict == "smaller here"
    assert judge(found(barely, *[0.5] * 12), Range(0.25, 1)).verdict == "open"
    assert judge(found(0.1, *[0.5] * 12), Range(0.25, 1)).verdict == "smaller here"


@pytest.mark.parametrize(
    ("value", "expected", "verdict"),
    [
        (4.0, Range(1, 3, null=0.0), "larger here"),
        (0.5, Range(1, 3, null=0.0), "smaller here"),
        (-0.5, Range(1, 3, null=0.0), "contradicted"),
        # Surely below the range, but its interval reaches zero.
        (-0.02, Range(1, 3, null=0.0), "smaller here"),
        (-0.2, Range(0, INF, null=0.0), "contradicted"),
        (0.5, Range(-INF, -1, null=0.0), "contradicted"),
        (-0.5, Range(-INF, -1, null=0.0), "larger here"),
        # The claim says that there is no difference.
        (0.5, Range(-0.1, 0.1, null=0.0), "contradicted"),
        (0.5, Range(-0.1, 0.1, equivalent=True, null=0.0), "contradicted"),
        (-0.5, Range(-0.1, 0.1), "smaller here"),
    ],
)
def test_a_claim_is_contradicted_only_if_its_direction_is_wrong(value, expected, verdict):
    assert judge(found(value), expected).verdict == verdict


def place(centre, low, high, possible, story="", **told):
    ends = (np.array([number]) for number in (centre, low, high))
    return Result(Place(*ends, possible, story), [], "bytes", True, np.array([0.02]), **told)


@pytest.mark.parametrize(
    ("crossing", "verdict"),
    [
        (place(11.1, 10.9, 11.3, [(10.8, 11.5)]), "holds"),
        (place(12.5, 12.3, 12.7, [(12, 13)]), "larger here"),
        (place(11.9, 11.7, 12.1, [(11, 13)]), "open"),
        (place(NAN, NAN, NAN, [(-INF, 5.0), (14.0, INF)], "the arms do not cross on this axis"), "contradicted"),
        (place(NAN, NAN, NAN, [(-INF, 5.0), (11.0, INF)], "no crossover was shown on this axis"), "open"),
        (place(11.1, 10.9, 11.3, [(10.8, INF)], at_least=True), "open"),
        (place(12.5, 12.4, 12.6, [(12.2, INF)], at_least=True), "larger here"),
    ],
)
def test_a_place_is_elsewhere_only_if_it_is_impossible(crossing, verdict):
    assert judge(crossing, Range(10.7, 11.5)).verdict == verdict


@pytest.mark.parametrize(
    ("expected", "bound", "verdict"),
    [
        (Range(5, 7), "at_least", "open"),
        (Range(1, 2), "at_least", "larger here"),
        (Range(3, 5), "at_least", "open"),
        (Range(3, INF), "at_least", "holds"),
        (Range(5, 7), "at_most", "smaller here"),
        (Range(1, 2), "at_most", "open"),
        (Range(-INF, 5), "at_most", "holds"),
    ],
)
def test_a_bound_decides_only_on_its_own_side(expected, bound, verdict):
    four = Estimate(np.array([4.0]), np.array([0.01]), np.array([4.0]))
    found = Result(four, [], "", True, np.array([0.02]), **{bound: True})
    judgement = judge(found, expected)
    assert judgement.verdict == verdict
    side = {"at_least": "a lower", "at_most": "an upper"}[bound]
    assert (f"only {side} bound is known" in judgement.reason) == (verdict == "open")


@pytest.mark.parametrize("launches", [3, 5, 10])
@pytest.mark.parametrize("times", [0, 1, 2, 4])
def test_a_claim_at_the_edge_of_its_range_is_rarely_decided_whatever_the_bias(launches, times):
    """The bias is normal, `times` as large as the standard error; either verdict is wrong in at most 2.5 %."""
    random = np.random.default_rng([launches, times])
    bias = 0.03 / np.sqrt(launches) * times
    verdicts = []
    for _ in range(1500):
        numbers = bias * random.standard_normal() + 0.03 * random.standard_normal((launches, 1))
        result = Result(estimate(numbers), [], "", True, np.array([1.96 * bias]))
        verdicts.append(judge(result, Range(0.0, INF)).verdict)
    # Of a share of 2.5 %, more than 3.5 % of 1,500 are a chance of one in a hundred.
    assert verdicts.count("smaller here") / len(verdicts) <= 0.035
    assert verdicts.count("holds") / len(verdicts) <= 0.035


def test_the_distance_of_two_points_allows_for_the_farthest_ends_of_both():
    first = Place(np.array([5.0]), np.array([4.0]), np.array([7.0]), [(3.0, 8.0)])
    second = Place(np.array([2.0]), np.array([1.0]), np.array([2.5]), [(0.5, 3.0)], "none was found")
    distance = apart(first, second)
    assert (distance.mean, distance.low, distance.high) == (3.0, 1.5, 6.0)
    assert (distance.possible, distance.story) == ([(0.0, 7.5)], "none was found")
