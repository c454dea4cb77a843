"""Is a setting recommended for its aims, and never because a call returns sooner?"""

import json
import tomllib

import disagreeing
import numpy as np
import pytest
from test_recommend import SIZES, decided, noisy, setting

from crossover.analyse.advice.recommend import FILE
from crossover.design.advice import Onset
from crossover.records import record

IN_TWO_WAYS = ("tcp", "ipc")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return disagreeing.write(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def found(results):
    """The rows of recommendations for the threshold, by transport and aims."""
    table = record.read(results / "recommendations.parquet", record.RECOMMENDATIONS).to_pylist()
    own = [row for row in table if row["setting"] == "copy_threshold"]
    return {(row["condition"].split(", ")[1], *json.loads(row["aims"])): row for row in own}


def effect_of(row, metric):
    (found,) = [effect for effect in json.loads(row["effects"]) if effect["metric"] == metric]
    return found


def test_no_setting_is_recommended_for_a_gain_that_its_throughput_refutes(found):
    recommended = [row for row in found.values() if row["recommended"]]
    assert recommended
    for row in recommended:
        assert row["metric"] != "send rate"
        transport = row["condition"].split(", ")[1]
        place = disagreeing.PASSES["zmq_throughput", "throughput"][transport]
        lent = disagreeing.better("throughput", place)[json.loads(row["value"]) <= SIZES].mean()
        if "throughput" in json.loads(row["aims"]):
            assert lent > 0 and row["gain_low"] > row["smallest_effect"]
        else:
            assert effect_of(row, "throughput")["says"] != "better" or lent > 0
    refused = found["inproc", "throughput"]
    assert not refused["recommended"] and "worse than `copy` at every measured point" in refused["reason"]


def test_the_send_rate_is_reported_but_is_no_aim(found):
    for transport in IN_TWO_WAYS:
        row = next(row for key, row in found.items() if key[:2] == (transport, "throughput"))
        beside = effect_of(row, "send rate")
        assert beside["aim"] is None and beside["says"] == "better" and beside["factor"] > 5
        assert abs(np.log(row["x"] / disagreeing.SENT_SOONER)) > 1


def test_aims_that_agree_have_one_recommendation(found):
    row = found["tcp", "throughput", "round trip"]
    assert effect_of(row, "round trip, median")["says"] == "better"
    assert [key for key in found if key[0] == "tcp"] == [("tcp", "throughput", "round trip")]


def test_aims_that_disagree_have_one_recommendation_each(found):
    flood, question = found["ipc", "throughput"], found["ipc", "round trip"]
    assert flood["low"] < 200e3 < flood["high"] and question["low"] < 5e3 < question["high"]
    assert effect_of(question, "throughput")["factor"] < effect_of(flood, "round trip, median")["factor"]


def test_the_cost_of_one_aim_for_another_is_reported(found):
    """From 5 kB on, round trips gain. Throughput loses as much below 200 kB as it gains above."""
    costs = effect_of(found["ipc", "round trip"], "throughput")
    truth = np.exp(disagreeing.better("throughput", 200e3)[SIZES >= 5e3].mean())
    assert costs["low"] < truth < costs["high"] and costs["says"] == "worse"


def test_a_recommended_threshold_is_the_crossover_on_the_page(results, found):
    crossovers = record.read(results / "crossovers.parquet", record.CROSSOVERS).to_pylist()
    names = ("experiment", "protocol", "metric", "arm")
    for row in (row for row in found.values() if row["recommended"]):
        (shown,) = [each for each in crossovers if all(each[name] == row[name] for name in names)]
        assert (row["verdict"], shown["verdict"]) == ("from", "one")
        assert [row[name] for name in ("x", "low", "high")] == [shown[name] for name in ("x", "low", "high")]
        assert json.loads(row["value"]) == pytest.approx(shown["x"], rel=0.005)


def test_the_toml_file_contains_the_aims_and_all_effects(results):
    said = tomllib.loads((results / FILE).read_text())["recommended"]
    tcp = next(entry for entry in said if entry["holds_for"]["condition"] == "node, tcp")
    assert tcp["aims"] == ["throughput", "round trip"] and tcp["measured_by"]["arm"] == "no-copy"
    assert {effect["metric"] for effect in tcp["effects"]} == {"round trip, median", "send rate"}


def both(random, **truth):
    """Arms of known `truth`: logarithms of the factor by which each is better than `old`, shape (cells,)."""
    return {arm: noisy(random, line, 5) for arm, line in ({"old": 0 * SIZES} | truth).items()}


@pytest.mark.parametrize(("early", "late", "best"), [(0.05, 0.9, "late"), (0.3, 0.3, "early")])
def test_the_arm_with_the_largest_mean_gain_is_chosen(early, late, best):
    rule = setting(Onset(("early", "late"), other="old"), snippet={"early": "e {value}", "late": "l {value}"})
    arms = both(
        np.random.default_rng(3), early=early * np.log(SIZES / 2e3), late=late * np.log(SIZES / 2e5).clip(-3, 3)
    )
    row = decided(arms, rule)
    assert row["recommended"] and (row["arm"], row["tried"]) == (best, 2)
    assert row["snippet"] == f"{best[0]} {row['value']}"
    assert row["low"] < {"early": 2e3, "late": 2e5}[best] < row["high"]


def test_an_arm_that_is_nowhere_better_is_not_tried():
    rule = setting(Onset(("early", "late"), other="old"), snippet={"early": "e", "late": "l"})
    row = decided(both(np.random.default_rng(4), early=0.2 * np.log(SIZES / 2e3), late=0 * SIZES - 1), rule)
    assert (row["arm"], row["tried"]) == ("early", 1)
    row = decided(both(np.random.default_rng(4), early=0 * SIZES - 0.5, late=0 * SIZES - 1), rule)
    assert not row["recommended"] and "`early` is worse" in row["reason"] and "`late` is worse" in row["reason"]
