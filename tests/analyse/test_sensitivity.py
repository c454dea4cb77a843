"""Is the possible bias of an experiment right?"""

import numpy as np
import pytest
from scipy import stats

from crossover.analyse.estimates.curve import Curve
from crossover.analyse.estimates.intervals import estimate, holm
from crossover.analyse.estimates.sensitivity import largest_bias, sensitivities
from crossover.records.record import SIGNIFICANCE


def curve(arm, ratios, experiment="zmq_throughput", protocol="tcp", placement="node"):
    ratios = np.asarray(ratios, float)
    facts = {
        "experiment": experiment, "placement": placement, "protocol": protocol, "metric": "throughput", "arm": arm,
        "reference": "copy", "is_null_arm": arm == "null", "ceiling": arm == "C",
    }  # fmt: skip
    counts = np.full(ratios.shape, 20.0)
    return Curve(facts, list(range(len(ratios))), np.arange(1.0, 1 + ratios.shape[1]), ratios, ratios, counts, counts)


def noise(launches, cells, sd=0.02, bias=0.0, seed=1):
    return bias + sd * np.random.default_rng(seed).standard_normal((launches, cells))


def smallest(null):
    """The smallest effect, as a logarithm, from a null arm's ratios."""
    (found,) = sensitivities([curve("no-copy", noise(3, 5)), curve("null", null)])
    return np.log(found["smallest_effect"])


def test_the_smallest_effect_is_the_largest_bias_of_the_null_arms():
    null = noise(3, 40, bias=0.05)
    means, variances = null.mean(axis=0), null.var(axis=0, ddof=1) / 3
    (found,) = sensitivities([curve("no-copy", noise(3, 40, seed=2)), curve("null", null)])
    assert np.log(found["smallest_effect"]) == pytest.approx(largest_bias(means, variances))
    assert found["null_cells"] == 40


def test_an_exact_bias_is_bounded_by_the_quantile_of_its_few_cells():
    quantile = stats.chi2.ppf(0.25, 4) / 4
    assert largest_bias(np.full(4, 0.1), np.zeros(4)) == pytest.approx(1.96 * 0.1 / np.sqrt(quantile), rel=1e-4)
    assert largest_bias(np.full(4, 0.1), np.full(4, 0.01 / quantile - 0.001)) == pytest.approx(
        1.96 * np.sqrt(0.001), rel=1e-4
    )


def test_chance_is_not_counted_again():
    """The means of unbiased null arms scatter by their standard errors, of 1.2 %; their quantile is about 2.6 %."""
    found = [smallest(noise(3, 60, seed=seed)) for seed in range(100)]
    assert np.median(found) < 0.018
    assert smallest(0.001 * (noise(3, 60) - noise(3, 60).mean(axis=0)) / 0.02) == 0


def test_noisy_null_cells_count_less():
    """Eight of 28 null cells are eight times noisier; the others show a bias of 2 %."""
    sd, false = np.where(np.arange(28) < 8, 0.16, 0.02), []
    for seed in range(200):
        random = np.random.default_rng(seed)
        null = sd * random.standard_normal((3, 28)) + 0.02 * random.standard_normal(28)
        rival = estimate(0.02 * random.standard_normal((3, 13)) + 0.02 * random.standard_normal(13))
        false.append((holm(rival.with_bias(smallest(null)).p) <= SIGNIFICANCE).any())
    assert np.mean(false) <= 0.05


@pytest.mark.parametrize("launches", [3, 5, 8])
def test_a_bias_is_seen_whole(launches):
    found = [smallest(noise(launches, 60, bias=0.05, seed=seed)) for seed in range(50)]
    assert 1.96 * 0.05 < np.median(found) < 1.2 * 1.96 * 0.05


def test_a_gap_costs_only_its_own_cell():
    null = noise(3, 40, bias=0.05)
    null[1:, 7] = np.nan
    whole = np.delete(null, 7, axis=1)
    assert smallest(null) == pytest.approx(smallest(whole))


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


@pytest.mark.parametrize("launches", [3, 8])
@pytest.mark.parametrize("cells", [4, 13])
@pytest.mark.parametrize("bias", [0, 0.02, 0.05])
def test_false_differences_are_rare_with_a_bias_that_the_null_arm_shares(launches, cells, bias):
    """Also with launches that shift an arm along the whole axis, and few null cells."""
    random = np.random.default_rng([launches, cells, int(100 * bias)])

    def arm():
        noise = 0.01 * random.standard_normal((launches, 1)) + 0.02 * random.standard_normal((launches, 13))
        return noise + bias * random.choice([-1, 1], 13)

    false = []
    for _ in range(300):
        effect, rival = smallest(arm()[:, :cells]), estimate(arm())
        false.append((holm(rival.with_bias(effect).p) <= SIGNIFICANCE).any())
    # Of a share of 3 %, more than 5.5 % of 300 campaigns are a chance of one in a hundred.
    assert np.mean(false) <= 0.055


def test_a_bias_of_all_arms_makes_hardly_any_false_claim():
    random = np.random.default_rng(7)
    false = []
    for _ in range(200):
        arm, null = (0.02 + 0.02 * random.standard_normal((5, 13)) for _ in range(2))
        (found,) = sensitivities([curve("no-copy", arm), curve("null", null)])
        p = estimate(arm).with_bias(np.log(found["smallest_effect"])).p
        false.append((p * 13 <= 0.05).any())
    assert np.mean(false) <= 0.02 + 0.02
    # A test against zero would have reported a difference in most of these campaigns.
    assert stats.ttest_1samp(arm, 0).pvalue.min() < 0.05
