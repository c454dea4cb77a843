"""Is a claim about something that no experiment measures refused by name?"""

import copy

import pytest

from crossover import claimed, schema, subject

CLAIM = next(claim for claim in claimed.read() if claim["quantity"]["experiment"] == "zmq_throughput")


def test_every_claim_of_the_project_is_about_what_is_measured():
    subject.require(claimed.read())


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
    with pytest.raises(schema.ConfigError) as refused:
        subject.require([claim])
    [fault] = [fault for fault in refused.value.faults if f".{key}: " in fault]
    assert f"claims.{claim['claim']}.quantity.{key}: {name!r} does not exist; available: " in fault
    assert available in fault
