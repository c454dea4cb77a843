"""Is a claim about anything that no experiment measures refused by name?"""

import copy

import pytest

from crossover.config import claim_list, published, schema, subject
from crossover.errors import CrossoverError
from crossover.measure import experiments
from crossover.planning import plan
from crossover.report.charts import ladder

CLAIM = next(claim for claim in claim_list.read() if claim["quantity"]["experiment"] == "zmq_throughput")


def test_every_shipped_claim_is_about_something_measured():
    subject.require(claim_list.read())


@pytest.mark.parametrize(
    ("key", "name", "available"),
    [
        ("experiment", "zmq", "zmq_throughput, zmq_latency"),
        ("arm", "no_copy", "copy, no-copy"),
        ("metric", "speed", "throughput, bandwidth"),
        ("placement", "moon", "node"),
    ],
)
def test_an_unknown_name_is_refused_with_the_known_ones(key, name, available):
    claim = copy.deepcopy(CLAIM)
    claim["quantity"][key] = name
    with pytest.raises(CrossoverError) as refused:
        subject.require([claim])
    [fault] = [fault for fault in str(refused.value).splitlines() if f".{key}: " in fault]
    assert f"claims.{claim['claim']}.quantity.{key}: {name!r} does not exist; available: " in fault
    assert available in fault


def of_experiment(experiment):
    return copy.deepcopy(next(one for one in claim_list.read() if one["quantity"]["experiment"] == experiment))


def test_the_metrics_of_an_experiment_without_a_second_sweep_are_known():
    claim = of_experiment("task_scaling")
    claim["quantity"]["metric"] = "submission"
    with pytest.raises(CrossoverError, match="'submission' does not exist; available: round trip, efficiency"):
        subject.require([claim])


@pytest.mark.parametrize(
    ("experiment", "where", "fault"),
    [
        ("zmq_throughput", {"patern": "PUSH/PULL"}, "where: 'patern' does not exist; available: pattern, transport, "),
        ("zmq_throughput", {"transport": "udp"}, "where.transport: 'udp' does not exist; available: tcp, ipc, inproc"),
        ("zmq_throughput", {"polled": "no"}, "where.polled: 'no' does not exist; available: false, true"),
        ("zmq_throughput", {"polled": 0}, "where.polled: 0 does not exist; available: false, true"),
        ("zmq_throughput", {"window_bytes": "64 MB"}, "where.window_bytes: '64 MB' is no whole number"),
        ("mpi_pingpong", {"transport": "ipc"}, "where: 'transport' does not exist; available: object, re_sent, "),
        ("task_latency", {"work": "full"}, "where.work: 'full' does not exist; available: empty"),
        ("task_latency", {"engines": True}, "where.engines: True is no whole number"),
        ("task_map", {"durations": "any"}, "where.durations: 'any' does not exist; available: equal, skewed"),
    ],
)
def test_an_unknown_key_or_value_is_refused_with_the_known_ones(experiment, where, fault):
    claim = of_experiment(experiment)
    claim["quantity"]["where"] = where
    with pytest.raises(CrossoverError) as refused:
        subject.require([claim])
    assert any(f"claims.{claim['claim']}.quantity.{fault}" in told for told in str(refused.value).splitlines())


def test_a_fault_in_an_alternative_or_in_the_other_side_is_named():
    claim = of_experiment("mpi_pingpong")
    claim["quantity"]["where"][1]["object"] = "tuple"
    with pytest.raises(CrossoverError, match=r"quantity.where.object: 'tuple' does not exist"):
        subject.require([claim])
    (claim,) = (copy.deepcopy(one) for one in claim_list.read() if one["claim"] == "zmq-latency-penalty")
    claim["quantity"]["against"]["where"]["polled"] = False
    with pytest.raises(CrossoverError, match=r"quantity.against.where: 'polled' does not exist"):
        subject.require([claim])


def test_published_numbers_and_the_ladder_select_curves_by_known_keys():
    whole = schema.read_schema()["properties"]["experiments"]["properties"]
    for selected in (*published.read(), *ladder.LAYERS):
        assert list(subject.strangers(selected.where, subject.keys(whole[selected.experiment]))) == []


@pytest.mark.parametrize("tier", schema.TIERS)
def test_the_schema_names_the_keys_of_the_drivers_curves_with_their_values(tier):
    config = schema.complete({"tier": tier})
    whole = schema.read_schema()["properties"]["experiments"]["properties"]
    for name in config["experiments"]:
        assert "x-keys" in whole[name]
        known, driver = subject.keys(whole[name]), experiments.find(name)
        own = plan.settings_of(config, name)
        for placement in own["placements"]:
            for cell in driver.cells(plan.of_launch(own, placement, 1)):
                assert list(subject.strangers(cell.keys, known)) == []
        declared = whole[name].get("x-metrics") or whole[name]["properties"]["refine_metric"]["enum"]
        assert declared == [metric.name for metric in driver.METRICS]
