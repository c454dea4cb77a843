"""Which launches share a job: bounded, complete, and spread so that those of one experiment are apart."""

import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossover.config import schema
from crossover.planning import batches, plan
from crossover.planning.batches import Bounds
from crossover.planning.receipt import Files, Receipt

EIGHT = Bounds(launches=8, minutes=10_000)


def quick(**more):
    return replace(schema.complete({"tier": "quick"} | more), hosts=2)


def test_every_launch_is_in_one_job_of_its_kind_and_number_of_hosts():
    config = quick()
    jobs = batches.jobs(EIGHT, plan.launches(config))
    every = sorted(launch.name for job in jobs for launch in job)
    assert every == sorted(launch.name for launch in plan.launches(config))
    for job in jobs:
        assert len({launch.settings.nodes for launch in job}) == 1


def test_launches_that_repeat_each_other_are_in_different_jobs():
    config = replace(schema.complete({"tier": "standard"}), hosts=2)
    jobs = batches.jobs(EIGHT, list(plan.launches(config)))
    for job in jobs:
        alike = Counter((each.experiment, each.settings.digest) for each in job)
        assert set(alike.values()) == {1}
    assert max(map(len, jobs)) > 4


def test_launches_on_different_nodes_do_not_share_a_job():
    config = quick()
    jobs = batches.jobs(EIGHT, list(plan.launches(config)), options=lambda launch: launch.number % 2)
    several = [job for job in jobs if job[0].placement == "nodes"]
    assert len(several) > 1
    assert all(len({each.number % 2 for each in job}) == 1 for job in several)


@given(st.lists(st.integers(1, 90)), st.integers(2, 9), st.integers(1, 200))
def test_no_batch_exceeds_the_bounds_except_for_a_launch_that_is_longer_alone(minutes, launches, most):
    numbers = batches._numbers(minutes, Bounds(launches, most))
    assert len(numbers) == len(minutes)
    assert numbers == sorted(numbers)
    for number in set(numbers):
        own = [each for each, its in zip(minutes, numbers, strict=True) if its == number]
        assert len(own) <= launches
        assert sum(own) <= most or len(own) == 1


def test_a_profile_sets_the_bounds():
    asked = {"batch_launches": 8, "batch_minutes": 60}
    assert batches.bounds(asked) == Bounds(8, 60)
    assert batches.bounds(asked, most_minutes=30) == Bounds(8, 30)


def test_a_launch_requests_a_multiple_of_what_is_expected_or_was_measured():
    launch = next(plan.launches(quick()))
    expected = launch.settings.expected_seconds
    assert batches.times({}).minutes(launch) == pytest.approx(batches.FACTOR * expected / 60)
    slower = Receipt(Files.of("r", "quick", launch, 0).path, "measured", wall_seconds=3 * expected)
    hole = replace(slower, outcome="hole", wall_seconds=99 * expected)
    own = batches.times({"time_factor": 2}, [slower, hole])
    assert own.minutes(launch) == pytest.approx(2 * 3 * expected / 60)
    assert own.minutes(replace(launch, placement="elsewhere")) == pytest.approx(2 * expected / 60)


@given(st.lists(st.floats(0.1, 300), min_size=1, max_size=20), st.integers(3, 400))
def test_the_launches_of_a_job_share_its_request(minutes, most):
    shares = batches.shares(minutes, most)
    assert min(shares) >= 0
    assert sum(shares) == min(most, batches.START_MINUTES + math.ceil(sum(minutes)))
