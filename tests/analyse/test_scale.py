"""Do intervals stay within the bounds of their metric, and have their coverage near a bound?"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from test_quantities import EFFECT, curve, field, quantity

from crossover.analyse.claims.quantities import find
from crossover.analyse.estimates.intervals import ABOVE_ONE, BOUNDED, MOST, POSITIVE, estimate, scale_of
from crossover.analyse.tables.writer import FROM_CURVES
from crossover.config.schema import complete
from crossover.design.experiments import declared
from crossover.records.record import FACTOR, SHARE

DURATIONS_US = np.logspace(3, 6, 7)
LAUNCHES_OF_CELLS = st.tuples(st.integers(1, 12), st.integers(1, 7))


def measured(values, unit):
    """A curve of `values`, shape (launches, cells)."""
    one = curve("old", values[0], np.arange(1, values.shape[1] + 1), unit=unit)
    d = np.log(values)
    return replace(
        one, launches=list(range(1, len(d) + 1)), values=d, ratios=np.full_like(d, np.nan), rounds=d, pairs=d
    )


def summary(values, unit):
    return list(FROM_CURVES["summary"]([measured(values, unit)]))


@given(
    st.data(),
    LAUNCHES_OF_CELLS,
    st.sampled_from([(SHARE, st.floats(1e-12, 1), 0, 1), (FACTOR, st.floats(1, 1e12), 1, np.inf)]),
)
def test_intervals_stay_within_the_bounds_of_their_metric(data, shape, kind):
    unit, numbers, lowest, highest = kind
    rows = summary(data.draw(arrays(float, shape, elements=numbers)), unit)
    assert len(rows) == shape[1]
    for row in rows:
        assert lowest <= row["median"] <= highest
        if shape[0] > 1:
            assert lowest <= row["low"] <= row["median"] <= row["high"] <= highest
        else:
            assert np.isnan(row["low"]) and np.isnan(row["high"])


@given(st.floats(0.01, 0.99), st.floats(0.001, 0.5))
def test_the_effect_of_equal_arms_lowers_a_share_by_its_factor_and_never_raises_it_to_one(share, effect):
    number = BOUNDED.of_log(np.log(share))
    moved = BOUNDED.lowered(number, effect)
    assert BOUNDED.value(number - moved) == pytest.approx(share * np.exp(-effect))
    assert share < BOUNDED.value(number + moved) < 1


@pytest.mark.parametrize("scale", [POSITIVE, BOUNDED, ABOVE_ONE])
def test_a_scale_is_increasing_and_invertible(scale):
    values = np.array([0.01, 0.5, 0.99]) if scale is not ABOVE_ONE else np.array([1.01, 2, 50])
    numbers = scale.of_log(np.log(values))
    assert (np.diff(numbers) > 0).all()
    assert scale.value(numbers) == pytest.approx(values)
    if scale is BOUNDED:
        assert scale.value(scale.of_log(np.log([1.0, 1.2]))) == pytest.approx(MOST)


def test_the_efficiency_in_a_claim_has_an_interval_below_one():
    values = np.array([[0.95] * 13, [0.99] * 13, [0.998] * 13])
    one = curve("copy", values[0], unit=SHARE)
    found = find(field(replace(one, values=np.log(values))), quantity("value", arm="copy", at=1e4))
    low, high = found.scale.value(found.known.low[0]), found.scale.value(found.known.high[0])
    assert low < 0.95 and 0.998 < high < 1
    centre = found.known.mean[0]
    assert found.scale.value(centre - found.effect[0]) == pytest.approx(found.scale.value(centre) * np.exp(-EFFECT))


def test_every_metric_without_a_unit_is_a_share_and_every_factor_is_at_least_one():
    """The unit decides whether a metric is bounded, so no other metric may have one of these units."""
    bounded = {
        (name, metric.name): metric.unit
        for name in complete({}).experiments
        for metric in declared()[name].metrics
        if scale_of(metric.unit) is not POSITIVE
    }
    assert bounded == {
        ("task_map", "efficiency"): SHARE,
        ("task_scaling", "efficiency"): SHARE,
        ("zmq_throughput", "overstatement"): FACTOR,
        ("zmq_bursts", "overstatement"): FACTOR,
    }


def overheads(random, launches, campaigns):
    """Efficiencies of tasks with an overhead that varies by launch (10 %) and by cell (10 %)."""
    shift = random.standard_normal((campaigns, launches, 1)) + random.standard_normal((campaigns, launches, 7))
    return DURATIONS_US / (DURATIONS_US + 4000 * np.exp(0.1 * shift))


def stalls(random, launches, campaigns):
    """Efficiencies of tasks that wait now and then, for a time that does not depend on their duration."""
    lost = 3000 + random.exponential(3000, (campaigns, launches, 7)) + random.exponential(500, (campaigns, launches, 1))
    return DURATIONS_US / (DURATIONS_US + lost)


@pytest.mark.parametrize("launches", [3, 5, 10])
@pytest.mark.parametrize("model", [overheads, stalls])
def test_near_the_bound_intervals_have_their_coverage(model, launches):
    """The truth is the limit of many launches. Intervals of plain logarithms would reach above 1."""
    random = np.random.default_rng(launches)
    truth = BOUNDED.of_log(np.log(model(random, 1, 100_000))).mean(axis=(0, 1))
    held, beyond = [], 0
    for efficiencies in model(random, launches, 600):
        found = estimate(BOUNDED.of_log(np.log(efficiencies)))
        held.append((found.low <= truth) & (truth <= found.high))
        beyond += (estimate(np.log(efficiencies)).high > 0).any()
    assert np.mean(held) >= 0.93
    assert np.mean(held, axis=0).min() >= 0.9
    # From 8 launches on nothing is pooled, so no cell gets the scatter of a much less efficient one.
    assert launches == 10 or beyond > 300, "the simulation must reach the bound"
