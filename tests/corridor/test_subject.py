"""Is a claim about something that no experiment measures refused by name?"""

import copy

import pytest

from crossover.config import claim_list, schema, subject
from crossover.errors import CrossoverError
from crossover.measure import experiments
from crossover.planning import plan

CLAIM = next(claim for claim in claim_list.read() if claim["quantity"]["experiment"] == "zmq_throughput")


def test_every_claim_of_the_project_is_about_what_is_measured():
    subject.require(claim_list.read())


@pytest.mark.parametrize(
    ("key", "name", "available"),
    [
        ("experiment", "zmq", "zmq_throughput, zmq_latency"),
        ("arm", "no_copy", "copy, no-copy"),
        ("metric", "speed", "throughput, bandwidth"),
        ("protocol", "PUSH/PULL over udp", "PUSH/PULL over tcp"),
        ("placement", "moon", "node"),
    ],
)
def test_what_does_not_exist_is_named_with_what_there_is(key, name, available):
    claim = copy.deepcopy(CLAIM)
    claim["quantity"][key] = name
    with pytest.raises(CrossoverError) as refused:
        subject.require([claim])
    [fault] = [fault for fault in str(refused.value).splitlines() if f".{key}: " in fault]
    assert f"claims.{claim['claim']}.quantity.{key}: {name!r} does not exist; available: " in fault
    assert available in fault


@pytest.mark.parametrize(
    ("experiment", "key", "name", "available"),
    [
        ("mpi_pingpong", "protocol", "float64 array, resent*", "float64 array, re-sent, thread level multiple"),
        ("task_latency", "protocol", "full tasks*", "empty tasks, engines: 0"),
        ("task_map", "protocol", "tasks sleep, any durations*", "tasks sleep, equal durations"),
        ("task_scaling", "metric", "submission", "round trip, efficiency"),
    ],
)
def test_protocols_of_every_experiment_are_known(experiment, key, name, available):
    claim = copy.deepcopy(next(one for one in claim_list.read() if one["quantity"]["experiment"] == experiment))
    claim["quantity"][key] = name
    with pytest.raises(CrossoverError) as refused:
        subject.require([claim])
    [fault] = [fault for fault in str(refused.value).splitlines() if f".{key}: " in fault]
    assert f"{name!r} does not exist; available: " in fault
    assert available in fault


def test_one_of_several_protocols_that_does_not_exist_is_named():
    claim = copy.deepcopy(next(one for one in claim_list.read() if isinstance(one["quantity"]["protocol"], list)))
    claim["quantity"]["protocol"][1] = "float64 array, resent*"
    with pytest.raises(CrossoverError, match="resent"):
        subject.require([claim])


@pytest.mark.parametrize("tier", schema.TIERS)
def test_the_schema_says_how_the_drivers_name_their_curves(tier):
    config = schema.complete({"tier": tier})
    whole = schema.read_schema()["properties"]["experiments"]["properties"]
    for name in config["experiments"]:
        exist, driver = subject.protocols(whole[name]), experiments.find(name)
        own = plan.settings_of(config, name)
        for placement in own["placements"]:
            cells = driver.cells(plan.of_launch(own, placement, 1))
            assert {cell.protocol for cell in cells if not subject.matching(cell.protocol, exist)} == set()
        declared = whole[name].get("x-metrics") or whole[name]["properties"]["refine_metric"]["enum"]
        assert declared == [metric.name for metric in driver.METRICS]
