"""Is the smallest detectable effect of an experiment right?"""

import numpy as np
import pytest
from scipy import stats

from crossover.analyse.curves.curve import Curve
from crossover.analyse.estimators.sensitivity import QUANTILE, sensitivities
from crossover.analyse.statistics.intervals import estimate


def curve(arm, ratios, experiment="zmq_throughput", protocol="tcp", placement="node"):
    ratios = np.asarray(ratios, float)
    facts = {
        "experiment": experiment, "placement": placement, "protocol": protocol, "metric": "throughput", "arm": arm,
        "reference": "copy", "null": arm == "null", "ceiling": arm == "C",
    }  # fmt: skip
    counts = np.full(ratios.shape, 20.0)
    return Curve(facts, list(range(len(ratios))), np.arange(1.0, 1 + ratios.shape[1]), ratios, ratios, counts, counts)


def noise(launches, cells, sd=0.02, bias=0.0, seed=1):
    return bias + sd * np.random.default_rng(seed).standard_normal((launches, cells))


def test_the_smallest_effect_is_a_quantile_of_the_null_arms_effects():
    null = noise(3, 40, bias=0.01)
    (found,) = sensitivities([curve("no-copy", noise(3, 40, seed=2)), curve("null", null)])
    assert np.log(found["smallest_effect"]) == pytest.approx(np.quantile(np.abs(null.mean(axis=0)), QUANTILE))
    assert found["null_cells"] == 40


def test_the_resolution_is_the_median_half_width_of_the_curve_itself():
    ratios = noise(5, 13)
    (found,) = sensitivities([curve("no-copy", ratios), curve("null", noise(5, 13, sd=1))])
    assert np.log(found["resolution"]) == pytest.approx(np.median(estimate(ratios).margin))


def test_null_arms_of_all_protocols_are_pooled_but_not_of_other_experiments_and_placements():
    curves = [
        curve("no-copy", noise(3, 5)),
        curve("null", noise(3, 5)),
        curve("null", noise(3, 6), protocol="ipc"),
        curve("null", noise(3, 7), experiment="zmq_latency"),
        curve("null", noise(3, 8), placement="process"),
    ]
    (found,) = sensitivities(curves)
    assert found["null_cells"] == 11


def test_ceilings_references_and_null_arms_have_no_sensitivity_of_their_own():
    curves = [curve(arm, noise(3, 5)) for arm in ("copy", "C", "null", "no-copy")]
    assert [found["arm"] for found in sensitivities(curves)] == ["no-copy"]


def test_one_launch_shows_neither():
    (found,) = sensitivities([curve("no-copy", noise(1, 5)), curve("null", noise(1, 5))])
    assert np.isnan([found["smallest_effect"], found["resolution"]]).all()
    assert found["null_cells"] == 0


def test_without_a_null_arm_the_bias_is_unknown():
    (found,) = sensitivities([curve("no-copy", noise(3, 5))])
    assert np.isnan(found["smallest_effect"])
    assert found["resolution"] > 1


def test_a_bias_of_all_arms_makes_hardly_any_false_claim():
    random = np.random.default_rng(7)
    false = []
    for _ in range(200):
        arm, null = (0.02 + 0.02 * random.standard_normal((5, 13)) for _ in range(2))
        (found,) = sensitivities([curve("no-copy", arm), curve("null", null)])
        p = estimate(arm).p_within(np.log(found["smallest_effect"]))
        false.append((p * 13 <= 0.05).any())
    assert np.mean(false) <= 0.02 + 0.02
    # A test against zero would have reported a difference in most of these campaigns.
    assert stats.ttest_1samp(arm, 0).pvalue.min() < 0.05
