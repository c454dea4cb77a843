"""Which launches share a job: bounded, complete, and spread so that those of one experiment are apart."""

from collections import Counter, defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossover.config import schema
from crossover.planning import batches, plan
from crossover.planning.batches import Bounds

EIGHT = Bounds(launches=8, minutes=10_000)


def quick(**more):
    return schema.complete({"tier": "quick"} | more) | {"hosts": 2}


def test_every_launch_has_one_batch_of_the_same_number_of_hosts():
    config = quick()
    found = batches.names(config, EIGHT)
    assert {tuple(launch.values()) for launch in plan.launches(config)} <= set(found)
    hosts = defaultdict(set)
    for experiment, placement, number in found:
        own = plan.of_launch(plan.settings_of(config, experiment), placement, number)
        hosts[found[experiment, placement, number]].add(plan.nodes(own))
    assert all(len(counts) == 1 for counts in hosts.values())


def test_launches_that_repeat_each_other_are_in_different_batches():
    config = schema.complete({"tier": "standard"}) | {"hosts": 2}
    found = batches.names(config, EIGHT)
    seen = Counter()
    for (experiment, placement, number), name in found.items():
        own = plan.of_launch(plan.settings_of(config, experiment), placement, number)
        seen[experiment, plan.canonical(own), number > plan.SECOND_SWEEP, name] += 1
    assert set(seen.values()) == {1}
    assert max(Counter(found.values()).values()) > 4


def test_launches_on_different_nodes_do_not_share_a_job():
    config = quick()
    found = batches.names(config, EIGHT, options=lambda launch: launch["launch"] % 2)
    several = {key: name for key, name in found.items() if key[1] == "nodes"}
    assert len(set(several.values())) > 1
    for name in set(several.values()):
        assert len({number % 2 for (*_, number), its in several.items() if its == name}) == 1


def test_measured_launches_need_no_place():
    config = quick()
    kept = list(plan.launches(config))[:5]
    assert not {tuple(launch.values()) for launch in kept} & set(batches.names(config, EIGHT, kept))


def test_a_second_sweep_has_batches_of_its_own_before_it_is_known():
    config = schema.complete({"tier": "standard"}) | {"hosts": 2}
    found = batches.names(config, EIGHT)
    first = {name for (*_, number), name in found.items() if number <= plan.SECOND_SWEEP}
    second = {name for (*_, number), name in found.items() if number > plan.SECOND_SWEEP}
    assert second
    assert not first & second


@given(st.lists(st.integers(1, 90)), st.integers(2, 9), st.integers(1, 200))
def test_no_batch_exceeds_the_bounds_except_for_a_launch_that_is_longer_alone(minutes, launches, most):
    numbers = batches._numbers(minutes, Bounds(launches, most))
    assert len(numbers) == len(minutes)
    assert numbers == sorted(numbers)
    for number in set(numbers):
        own = [each for each, its in zip(minutes, numbers, strict=True) if its == number]
        assert len(own) <= launches
        assert sum(own) <= most or len(own) == 1


@pytest.mark.parametrize("resources", [{}, {"batch_launches": 1, "batch_minutes": 60}])
def test_each_launch_has_a_job_of_its_own_where_a_profile_has_no_batches(resources):
    assert batches.bounds(resources) is None
    assert batches.names(quick(), None) == {}


def test_a_profile_sets_the_bounds():
    asked = {"batch_launches": 8, "batch_minutes": 60}
    assert batches.bounds(asked) == Bounds(8, 60)
    assert batches.bounds(asked, most_minutes=30) == Bounds(8, 30)
    assert batches.longest_minutes(quick(), asked) == 60
    assert batches.longest_minutes(quick(), {}) < 60
