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


def test_each_arm_has_its_resolution_and_the_null_arms_of_its_experiment_and_placement():
    gap = noise(3, 6)
    gap[1:, 2] = np.nan
    ratios = noise(5, 13)
    others = [curve("null", noise(3, 7), experiment="zmq_latency"), curve("null", noise(3, 8), placement="process")]
    nulls = [curve("null", noise(3, 5)), curve("null", gap, protocol="ipc")]
    (found,) = sensitivities([curve("no-copy", ratios), curve("copy", ratios), curve("C", ratios), *nulls, *others])
    assert (found["arm"], found["null_cells"]) == ("no-copy", 10)
    assert np.log(found["resolution"]) == pytest.approx(np.median(estimate(ratios).margin))
    for null, resolved in ([curve("null", noise(1, 5))], False), ([], True):
        (found,) = sensitivities([curve("no-copy", ratios if resolved else noise(1, 5)), *null])
        assert np.isnan(found["smallest_effect"]) and np.isnan(found["resolution"]) != resolved


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
