"""Are the crossovers of the first launches refined, and are the results of both right?"""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic import SIZES, blocks, campaign, launched, rows

from crossover.analyse.estimates.crossover import crossing
from crossover.analyse.tables.refinement import inside, refine
from crossover.planning.refinement import SHARE

HERE = 7000.0
CLIFF = 1.2 * SIZES[6]
SETTINGS = json.dumps({"arms": ["copy", "no-copy"], "budget_seconds": 13})
METRIC = "per message"


def cliff(x, at=CLIFF):
    """Log ratios of an arm that is 30 % faster up to a place and 30 % slower from there on."""
    return np.where(np.asarray(x) > at, 0.3, -0.3)


@given(st.lists(st.integers(1, 10**9), min_size=2, max_size=6, unique=True).map(sorted), st.integers(1, 8))
def test_the_brackets_points_stay_and_new_ones_lie_between_them(bracket, points):
    found = inside(bracket, points)
    roomy = [low for low, high in pairwise(bracket) if high > 3 * low]
    assert found == sorted(set(found))
    if roomy:
        assert set(bracket) <= set(found)
        assert found[0] == bracket[0] and found[-1] == bracket[-1]
    for low, high in pairwise(found):
        assert low not in roomy or high not in bracket


def test_a_bracket_without_whole_numbers_inside_is_not_refined():
    assert inside([33, 34], 3) == []
    assert inside([], 3) == []
    assert inside([10, 13], 5) == [10, 11, 12, 13]


def first_launches(results, reference, arm):
    """The receipts of launches with these seconds."""
    pairs = ({"copy": one, "no-copy": other} for one, other in zip(reference, arm, strict=True))
    return [
        launched(results, rows(seconds, launch=n), launch=n, settings=SETTINGS)
        for n, seconds in enumerate(pairs, start=1)
    ]


def refined(folder, experiment="mpi_pingpong"):
    """The file of the refinement of an experiment, whose folder names it."""
    (folder / experiment).mkdir()
    return folder / experiment / "refinement.json"


def swept(tmp_path, truth, launches=3, launch_sd=0.01, metric=METRIC, more=3):
    """The launches of a refinement after a first one whose log ratios are `truth`, with noise."""
    random = np.random.default_rng(3)
    reference, arm = blocks(random, truth, launches, launch_sd=launch_sd, cell_sd=0.01)
    output = refined(tmp_path)
    hole = launched(tmp_path, [], launch=launches + 1, settings=SETTINGS)
    refine([*first_launches(tmp_path, reference, arm), hole], metric, more, output)
    return json.loads(output.read_text())


def test_every_launch_and_hole_of_the_first_launches_is_repeated_inside_the_bracket(tmp_path):
    found = swept(tmp_path, cliff(SIZES), launches=2)
    cells = {"tcp": [10000, 12115, 14678, 17783, 21544]}
    # Each cell gets as much time as in the first launches.
    one = {"cells": cells, "budget_seconds": 13 * 5 / 13}
    assert found == {"node": {"10001": one, "10002": one, "10003": one}}


@pytest.mark.parametrize(("truth", "metric"), [(0, METRIC), (0.3, METRIC), (cliff(SIZES), "another")])
def test_without_a_crossover_of_the_metric_there_is_no_refinement(tmp_path, truth, metric):
    assert swept(tmp_path, 0 * SIZES + truth, metric=metric) == {}


def test_a_refinement_never_gets_more_than_its_part_of_the_first_launchess_time(tmp_path):
    assert swept(tmp_path, cliff(SIZES), more=40)["node"]["10001"]["budget_seconds"] == 13 * SHARE


def test_only_launches_like_those_that_measured_the_curve_are_repeated(tmp_path):
    """Four launches; the odd ones have a thread level with a crossover."""
    random = np.random.default_rng(5)
    receipts = []
    for level, truth, numbers in (("single", cliff(SIZES), (1, 3)), ("multiple", 0 * SIZES, (2, 4))):
        reference, arm = blocks(random, truth, 2, launch_sd=0.001, cell_sd=0.001)
        for index, number in enumerate(numbers):
            measured = {"copy": reference[index], "no-copy": arm[index]}
            own = rows(measured, protocol=level, launch=number)
            settings = json.dumps({"budget_seconds": 13, "thread_levels": [level]})
            receipts.append(launched(tmp_path, own, launch=number, settings=settings))
    output = refined(tmp_path)
    refine(receipts, METRIC, 3, output)
    found = json.loads(output.read_text())["node"]
    assert {number: list(each["cells"]) for number, each in found.items()} == {"10001": ["single"], "10003": ["single"]}


def both(random, truth, launches, points=3):
    """The crossovers from the first launches and from both; `truth` is a function of the axis."""
    d = campaign(random, truth(SIZES), launches)
    first = crossing(SIZES, d)
    if first.verdict != "one":
        return None
    bracket = [int(x) for x in SIZES if first.bracket_low <= x <= first.bracket_high]
    inner = np.array(inside(bracket, points), float)
    x = np.union1d(SIZES, inner)
    joint = np.full((2 * launches, len(x)), np.nan)
    joint[:launches, np.isin(x, SIZES)] = d
    joint[launches:, np.isin(x, inner)] = campaign(random, truth(inner), launches)
    return first, crossing(x, joint)


@pytest.mark.parametrize(("launches", "slope"), [(3, 0.6), (5, 0.15)])
def test_the_choice_of_cells_by_the_first_launches_does_not_bias_the_interval(launches, slope):
    """docs/benchmarks/analysis.md has the results of 400 campaigns each."""
    random = np.random.default_rng(launches)
    pairs = []
    for _ in range(120):
        at = np.exp(random.uniform(*np.log(SIZES[[4, 8]])))
        pair = both(random, lambda x, at=at: slope * np.log10(x / at), launches)
        if pair:
            pairs.append((at, *pair))
    assert len(pairs) > 100
    assert all(joint.verdict == "one" for _, _, joint in pairs)
    held = np.mean([joint.low <= at <= joint.high for at, _, joint in pairs])
    assert held >= 0.93 - 2 * 0.25 / np.sqrt(len(pairs))
    widths = np.log([[found.high / found.low for found in each[1:]] for each in pairs]).mean(axis=0)
    assert widths[1] < 1.05 * widths[0]


@pytest.mark.parametrize("launches", [3, 5])
def test_a_cliff_is_found_within_a_step_of_the_finer_axis(launches):
    random = np.random.default_rng(launches)
    for _ in range(20):
        at = np.exp(random.uniform(*np.log(SIZES[[6, 7]])))
        pair = both(random, lambda x, at=at: cliff(x, at), launches)
        if pair:
            first, joint = pair
            assert joint.bracket_low <= at <= joint.bracket_high
            narrowed = np.log(joint.bracket_high / joint.bracket_low) / np.log(first.bracket_high / first.bracket_low)
            # A quarter of a step; half a step if an end is not significant.
            assert narrowed <= 0.51
            assert abs(np.log(joint.x / at)) <= np.log(joint.bracket_high / joint.bracket_low)
