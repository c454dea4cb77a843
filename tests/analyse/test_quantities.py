"""Is each quantity of a claim right on curves of known truth?"""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from possible import Possible

from crossover.analyse.claims.candidates import NotMeasuredError
from crossover.analyse.claims.quantities import find
from crossover.analyse.estimates.crossover import crossing
from crossover.analyse.estimates.curve import Curve
from crossover.config.claim_list import Quantity
from crossover.planning.plan import MOST_LAUNCHES
from crossover.records import json_text

X = np.logspace(2, 6, 13)
EFFECT = 0.02
POWERS = st.floats(-1, 1)
FACTORS = st.floats(0.1, 10)


def curve(arm, values, x=X, launches=3, first=1, reference="", reference_values=None, **facts):
    """A curve on which all launches agree; `values` of shape (cells,)."""
    known = {
        **{"experiment": "e", "placement": "node", "protocol": "p", "pattern": "p", "metric": "rate", "arm": arm},
        **{"reference": reference, "axis_unit": "bytes", "unit": "messages/s", "better": "higher"},
    }
    d = np.tile(np.log(values), (launches, 1))
    ratios = np.full_like(d, np.nan) if reference_values is None else d - np.log(reference_values)
    return Curve(known | facts, list(range(first, first + launches)), np.asarray(x, float), d, ratios, d, d)


def field(*curves, effect=EFFECT):
    effects = {tuple(c.facts[name] for name in ("experiment", "placement", "metric")): effect for c in curves}
    return Possible(curves, effects)


def pair(factor=1.0, power=0.0, base=None):
    """copy, and no-copy whose ratio to it is factor * (x / 10 kB) ** power."""
    base = 1e6 / (1 + X / 1e4) if base is None else base
    arm = curve("no-copy", base * factor * (X / 1e4) ** power, reference="copy", reference_values=base)
    return curve("copy", base, reference="copy"), arm


def quantity(kind, arm="no-copy", **told):
    named = {"experiment": "e", "placement": "node", "where": {"pattern": "p"}, "metric": "rate"}
    return json_text.read(json.dumps({"kind": kind, "arm": arm, **named, **told}), Quantity)


def number(found, which=0):
    value = found.known.mean[which]
    return np.exp(value) if found.log else value


@given(FACTORS, POWERS, st.floats(100, 1e6))
def test_a_ratio_at_a_place_is_exact_if_it_is_a_power_of_the_axis(factor, power, place):
    found = find(field(*pair(factor, power)), quantity("ratio", over="copy", at=place))
    # A place within 1 % of a measured point counts as that point.
    assert number(found) == pytest.approx(factor * (place / 1e4) ** power, rel=0.011)
    inverse = find(field(*pair(factor, power)), quantity("ratio", arm="copy", over="no-copy", at=place))
    assert number(inverse) == pytest.approx(1 / number(found))


def test_arms_of_different_launches_are_compared_in_the_cells_that_both_have():
    here = curve("no-copy", 2 * X, reference="no-copy")
    there = curve("no-copy", X[::2], X[::2], placement="process", reference="no-copy")
    found = find(field(here, there), quantity("ratio", over={"placement": "process"}, each={}))
    assert found.x == tuple(X[::2])
    assert np.exp(found.known.mean) == pytest.approx(np.full(7, 2.0))


@given(FACTORS, POWERS)
def test_a_slope_is_the_power_and_its_effect_is_the_tilt_between_equal_arms(factor, power):
    found = find(field(*pair(factor, power)), quantity("ratio", over="copy", slope={}))
    assert number(found) == pytest.approx(power, abs=1e-9)
    off = np.log(X) - np.log(X).mean()
    assert found.effect == pytest.approx(EFFECT * np.abs(off).sum() / (off**2).sum())


@given(FACTORS, POWERS)
def test_a_mean_is_geometric_and_does_not_depend_on_the_density_of_points(factor, power):
    fine = np.unique(np.concatenate([X, np.geomspace(900, 1100, 9)]))
    finer = [curve("no-copy", factor * (fine / 1e4) ** power, fine), curve("copy", np.ones_like(fine), fine)]
    part = {"mean": {"from": 100, "to": 1e6}}
    coarse, dense = (
        number(find(field(*arms), quantity("ratio", over="copy", **part))) for arms in (pair(factor, power), finer)
    )
    assert coarse == pytest.approx(factor)
    assert dense == pytest.approx(factor)


@pytest.mark.parametrize(
    ("reading", "place"),
    [
        ({"each": {"from": 1000, "to": 2e6}}, "2e+06"),
        ({"mean": {"points": [1000, 2e6]}}, "2e+06"),
        ({"each": {"from": 1100, "to": 1200}}, "1100"),
        ({"mean": {"from": 1100, "to": 1200}}, "1100"),
        ({"at": 99}, "99"),
        ({"at": 1.1e6}, "1.1e+06"),
    ],
)
def test_nothing_is_read_beyond_the_axis_or_from_a_range_without_any_point(reading, place):
    with pytest.raises(NotMeasuredError, match=re.escape(f"no {place}")):
        find(field(*pair()), quantity("ratio", over="copy", **reading))


def test_several_arms_are_compared_one_by_one_and_missing_ones_are_named_together():
    third = curve("default", 4e6 / (1 + X / 1e4), reference="copy", reference_values=1e6 / (1 + X / 1e4))
    told = quantity("ratio", over=["copy", "default", "one", "other"], mean={})
    found = find(field(*pair(2), third), told)
    assert [number(found, which) for which in (0, 1)] == [pytest.approx(2), pytest.approx(0.5)]
    assert list(found.arms) == ["copy", "default"]
    assert found.missing == "`one`, `other`: missing"


def level(arm, value, **facts):
    return curve(arm, np.broadcast_to(value, X.shape), **facts)


CONTRAST = [*pair(12), level("copy", 1.0, experiment="f"), level("no-copy", 3.0, experiment="f")]
METRICS = [level("copy", 8.0), level("copy", 2.0, metric="round trip")]
SENDS = [level("copy", 1.0, metric="sends"), level("no-copy", X / 1000, metric="sends")]
SENDS += [level("copy", 1.0), level("no-copy", X / 2e5)]
SLOWER = [level(c.facts["arm"], np.exp(-c.values[0]), better="lower") for c in pair(0.5, 0.3)]


@pytest.mark.parametrize(
    ("curves", "asked", "numbers", "effect"),
    [
        (
            [level("copy", 1e6 / X), level("no-copy", 5e4 * X / X[-1])],
            quantity("ratio", over="copy", peak={}),
            [5],
            None,
        ),
        (METRICS, quantity("ratio", "copy", over={"metric": "round trip"}, mean={}), [4], np.sqrt(2) * EFFECT),
        (CONTRAST, quantity("contrast", over="copy", at=1000, against={"experiment": "f"}), [4], None),
        (SENDS, quantity("crossovers", metric="sends", over="copy", against={"metric": "rate"}), [1 / 200], None),
        (pair(), quantity("time", "copy", at=1e4), [2], None),
        ([level("a", 6.0), level("b", 2.0, first=4)], quantity("ratio", "a", over="b", peak={}), [3], None),
        (pair(2), quantity("ratio", over="copy", each={"from": 1000, "to": 100_000}), [2] * 7, None),
        (pair(2), quantity("ratio", over="copy", each={"points": [1000, 2000, 1e5]}), [2] * 2, None),
        (SLOWER, quantity("loss", over="copy", threshold=1e7), 0.5 * (X / 1e4) ** 0.3, None),
    ],
)
def test_a_quantity_has_its_number(curves, asked, numbers, effect):
    found = find(field(*curves), asked)
    assert [number(found, which) for which in range(len(found.known.mean))] == pytest.approx(list(numbers))
    assert effect is None or found.effect == pytest.approx(effect)


@given(st.floats(200, 8e5), st.floats(0.05, 1))
def test_the_ratio_at_a_crossover_is_one(place, power):
    found = find(field(*pair((1e4 / place) ** power, power), effect=1e-9), quantity("crossover", over="copy"))
    assert number(found) == pytest.approx(place, rel=1e-6)
    ((low, high),) = found.known.possible
    assert low <= np.log(place) <= high
    assert high - low < 2.1 * np.log(X[1] / X[0])


def test_without_an_interval_or_a_place_a_crossover_tells_what_is_possible():
    arms = [curve("copy", np.ones_like(X), launches=1), curve("no-copy", X / 5000, launches=1)]
    found = find(field(*arms), quantity("crossover", over="copy"))
    assert number(found) == pytest.approx(5000) and np.isnan(found.known.low).all()
    found = find(field(*pair(2)), quantity("crossover", over="copy"))
    assert found.known.story == "the arms do not cross on this axis"
    assert found.known.possible == [(-np.inf, np.log(X[0])), (np.log(X[-1]), np.inf)]


def test_scaling_compares_points_of_different_launches():
    values = np.full((4, 2), np.nan)
    values[:2, 0], values[2:, 1] = np.log(10), np.log(40)
    engines = replace(curve("copy", np.ones(2), [4.0, 128.0], launches=4), values=values)
    assert number(find(field(engines), quantity("scaling", arm="copy", **{"from": 4, "to": 128}))) == pytest.approx(4)


@given(st.floats(1000, 1e5), st.floats(1000, 1e5))
def test_a_threshold_loses_between_itself_and_the_crossover(place, threshold):
    found = find(field(*pair((1e4 / place) ** 0.5, 0.5)), quantity("loss", over="copy", threshold=threshold))
    lost = found.known.mean
    between = (min(place, threshold) * 1.001 < X) & (max(place, threshold) * 0.999 > X)
    outside = (min(place, threshold) * 0.999 > X) | (max(place, threshold) * 1.001 < X)
    assert (lost[between] > 0).all()
    assert (lost[outside] < 0).all()
    assert np.abs(lost) == pytest.approx(np.abs(0.5 * np.log(X / place)))


def test_a_mean_needs_launches_with_all_its_parts_and_two_arms_shared_launches():
    arm = curve("s", np.ones_like(X))
    mean = quantity("value", arm="s", mean={})
    arm.values[0, 3], arm.values[0, 7] = np.nan, np.log(1000)
    assert number(find(field(arm), mean)) == pytest.approx(1)
    arm.values[1:, 4] = np.nan
    with pytest.raises(NotMeasuredError, match="no launch measured all the points"):
        find(field(arm), mean)
    apart = field(curve("copy", np.ones_like(X)), curve("no-copy", X / 1000, first=4))
    for asked in ({"kind": "crossover"}, {"kind": "loss", "threshold": 1000}):
        with pytest.raises(NotMeasuredError, match="no launch measured both arms"):
            find(apart, quantity(over="copy", **asked))


@pytest.mark.parametrize(("cell", "at_end"), [(6, False), (12, True)])
def test_saturation_is_the_point_near_the_largest_bandwidth_or_a_bound_at_the_axis_end(cell, at_end):
    carried = np.minimum(X, X[cell]) * np.where(X[cell] < X, 0.99, 1.0)
    found = find(field(curve("copy", carried / X)), quantity("saturation", arm="copy", share=0.9))
    assert number(found) == pytest.approx(0.9 * X[cell])
    assert found.at_least == at_end
    assert found.known.possible == [(np.log(X[cell - 1]), np.inf if at_end else np.log(X[cell]))]


RISING, PLATEAU, FALLING = X, np.minimum(X, X[8]), 1 / X


@pytest.mark.parametrize(
    ("own", "other", "bounds"),
    [
        (RISING, PLATEAU, (True, False)),
        (PLATEAU, RISING, (False, True)),
        (RISING, RISING, (True, True)),
        (PLATEAU, FALLING, (False, False)),
    ],
)
def test_a_peak_at_the_end_of_the_axis_is_a_bound(own, other, bounds):
    curves = field(curve("no-copy", own), curve("copy", other))
    value = find(curves, quantity("value", peak={}))
    assert (value.at_least, value.at_most) == (bounds[0], False)
    ratio = find(curves, quantity("ratio", over="copy", peak={}))
    assert (ratio.at_least, ratio.at_most) == bounds
    ended = find(curves, quantity("value", peak={"to": X[-1]}))
    assert not ended.at_least
    shortest = find(curves, quantity("time", peak={}))
    assert (shortest.at_least, shortest.at_most) == (False, bounds[0])


def heats(noise=0.0):
    """Three arms and their reference; `b` was measured in separate launches, on a machine seven times as fast."""
    base = np.ones_like(X)
    fast = [1.0] * 3 + [7.0] * 3
    reference = curve("ref", base, launches=6, reference="ref")
    reference.values[:] += np.log(fast)[:, np.newaxis]
    told = {"reference": "ref", "reference_values": base}
    b = curve("b", 2 * base, first=4, **told)
    b.values[:] += np.log(7)
    return [reference, curve("a", 3 * base, **told), b]


@pytest.mark.parametrize("reading", [{"peak": {}}, {"mean": {}}, {"at": 1e4}, {"each": {}}])
def test_arms_of_different_heats_are_compared_by_ratios_to_their_references(reading):
    found = find(field(*heats()), quantity("ratio", arm="a", over="b", **reading))
    assert number(found) == pytest.approx(1.5)
    assert found.effect == pytest.approx(np.sqrt(2) * EFFECT)
    within = find(field(*heats()), quantity("ratio", arm="a", over="ref", **reading))
    assert number(within) == pytest.approx(3)


def refined():
    """copy and no-copy; their ratio jumps from a half to two at 20 kB. Three launches measured only inside."""
    inside = np.array([12e3, 15e3, 19e3, 25e3])
    x = np.sort(np.concatenate([X, inside]))
    base, ratio = np.ones_like(x), np.where(x < 2e4, 0.5, 2.0)
    arms = (
        curve("copy", base, x, launches=6, reference="copy"),
        curve(*("no-copy", ratio, x), launches=6, reference="copy", reference_values=base),
    )
    second = np.isin(x, inside)
    for arm in arms:
        for part in (arm.values, arm.ratios):
            part[:3, second] = np.nan
            part[3:, ~second] = np.nan
        arm.launches[3:] = [MOST_LAUNCHES + number for number in (1, 2, 3)]
    return arms


def test_a_claims_crossover_agrees_with_the_headline_and_uses_every_launch():
    arms = refined()
    found = find(field(*arms, effect=1e-9), quantity("crossover", over="copy"))
    headline = crossing(arms[1].x, arms[1].ratios)
    assert number(found) == pytest.approx(headline.x)
    assert np.exp([found.known.low[0], found.known.high[0]]) == pytest.approx([headline.low, headline.high])
    assert 19e3 <= number(found) <= 25e3
    first = [each.swept for each in arms]
    assert not 19e3 <= number(find(field(*first, effect=1e-9), quantity("crossover", over="copy"))) <= 25e3
    place = quantity("ratio", over="copy", at=19e3)
    found, coarse = find(field(*arms), place), find(field(*first), place)
    assert number(found) == pytest.approx(0.5) != number(coarse) and found.between is None
    assert coarse.between == (pytest.approx(1e4), pytest.approx(1e4 * 10 ** (1 / 3)))
    for reading in ("mean", "slope", "peak"):
        asked = quantity("value", arm="no-copy", **{reading: {}})
        assert number(find(field(*arms), asked)) == number(find(field(*first), asked))
