"""Is the time of a run estimated correctly, and compared with its actual time?"""

import re
import sys
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossover.config import schema
from crossover.paths import PROJECT
from crossover.planning import estimate, plan
from crossover.planning.estimate import Estimate
from crossover.records.rows import Launch

CHOSEN = {"arms": ["copy", "no-copy"], "placements": ["node"], "launches": 10, "budget_seconds": 412}


@pytest.fixture
def config(tmp_path):
    return complete(results=str(tmp_path), experiments={"zmq_latency": CHOSEN})


def complete(**chosen):
    return schema.complete({"tier": "paper"} | chosen)


def launches(count):
    return [*plan.launches(complete(experiments={"zmq_latency": CHOSEN}))][:count]


def expected(due, nodes=None, **more):
    """The estimate of launches in a job each."""
    return Estimate("paper", [[launch] for launch in due], nodes, **more)


def test_on_one_machine_launches_follow_each_other(config):
    assert expected(launches(10)).outlook == ("tier paper: 10 launches, about 69 min of measuring on this machine")


def test_on_a_cluster_launches_run_side_by_side_and_node_hours_stay_the_same(config):
    one, three = (expected(launches(9), nodes).cost for nodes in (1, 3))
    assert one.node_seconds == three.node_seconds == pytest.approx(one.wall_seconds)
    assert three.wall_seconds == pytest.approx(one.wall_seconds / 3)
    assert expected(launches(9), 3).outlook == (
        "tier paper: 9 launches, a job each; about 1.1 node-hours, 21 min on up to 3 nodes at a time, "
        "plus the time spent waiting for other jobs"
    )


def test_if_the_nodes_are_unknown_no_duration_is_promised(config):
    assert expected(launches(9), 100, is_known=False).outlook == (
        "tier paper: 9 launches, a job each; about 1.1 node-hours; the duration depends on the free nodes"
    )


@pytest.mark.parametrize(
    ("hours", "words"),
    [(0.234, "0.23"), (1, "1"), (23.4, "23"), (99.4, "99"), (99.6, "100"), (134.2, "134"), (2200, "2200")],
)
def test_node_hours_are_written_without_an_exponent(hours, words):
    assert estimate._node_hours(hours * 3600) == f"{words} node-hours"


def test_no_more_nodes_are_promised_than_can_be_used(config):
    assert expected(launches(4), 100).cost.nodes == 4


def test_jobs_of_two_nodes_wait_until_two_are_free():
    found = estimate.cost([(10, 1), (10, 2), (10, 2)], nodes=2)
    assert (found.wall_seconds, found.node_seconds) == (30, 50)


COUNTS = st.integers(1, 40)


@given(st.lists(st.tuples(st.floats(1, 1e4), COUNTS)), COUNTS, st.one_of(COUNTS, st.just(sys.maxsize)))
def test_jobs_of_any_width_have_a_duration_within_bounds(jobs, nodes, at_once):
    found, seconds = estimate.cost(jobs, nodes, at_once), [own for own, _ in jobs]
    shared = max(found.node_seconds / (found.nodes or 1), sum(seconds) / at_once, *seconds, 0)
    assert shared <= found.wall_seconds * (1 + 1e-9) and found.wall_seconds <= sum(seconds) * (1 + 1e-9)
    assert found.nodes <= max(nodes, *(wanted for _, wanted in jobs), 0)


def test_a_bound_of_jobs_counts_jobs_and_launches_wider_than_the_nodes_have_theirs(config):
    wide = replace(complete(experiments={"mpi_pairs": {}}), hosts=16)
    found = expected([*plan.launches(wide)], nodes=5, at_once=1)
    assert "on up to 16 nodes at a time" in found.outlook
    assert "the duration depends" in replace(found, nodes=1, is_known=False).outlook


@pytest.mark.parametrize("nodes", [None, 3])
def test_if_nothing_is_left_the_estimate_says_so(config, nodes):
    assert expected([], nodes).outlook == "tier paper: nothing is left to measure"
    assert expected([], nodes).review([], 0) == "no launch was measured"


def ended(launch, after_seconds, **facts):
    """The facts of a launch that ended this many seconds after its run began (2000 seconds ago)."""
    return Launch.of(launch.identity | {"wall_seconds": 400.0} | facts), time.time() - 2000 + after_seconds


def review(due, facts, nodes=None):
    return expected(due, nodes).review(facts, time.monotonic() - 2000)


SECONDS = {"entering_seconds": 6.0, "meeting_seconds": 4.0, "timed_seconds": 203.0}


def test_the_review_compares_actual_with_expected_time(config):
    facts = [
        ended(launch, after, job=str(queued), queued_seconds=queued, **SECONDS)
        for launch, after, queued in zip(launches(3), (700, 900, 1200), (1, 3, 500), strict=True)
    ]
    assert review(launches(3), facts, nodes=3) == (
        "3 of 3 launches measured in 20 min, 7 min expected; 0.34 node-hours, 50% of it inside timed blocks, "
        "0.36 node-hours expected"
    )


@pytest.mark.parametrize("jump", [-86400, 3600])
def test_a_run_is_as_long_as_it_was_although_the_clock_jumped(config, jump):
    assert "measured in 33 min" in review(launches(1), [ended(*launches(1), 900 + jump)])


def test_launches_that_share_a_job_share_its_start(config):
    alone, together = expected(launches(3), 1), Estimate("paper", [launches(3)], 1)
    assert alone.cost.node_seconds - together.cost.node_seconds == 2 * estimate.JOB_SECONDS
    assert together.outlook.startswith("tier paper: 3 launches in 1 job; about 0.35 node-hours")


def test_on_one_machine_the_review_mentions_no_jobs(config):
    facts = [ended(*launches(1), 500)]
    assert review(launches(1), facts) == "1 of 1 launch measured in 8 min, 7 min expected"


def test_holes_are_not_counted_as_measured(config):
    first, second, third = launches(3)
    hole = {"outcome": "hole", "hole": "crashed", "reason": "it broke", "wall_seconds": 4.0}
    facts = [ended(first, 500, outcome="measured"), ended(second, 600, **hole), ended(third, 600, **hole)]
    assert review(launches(3), facts) == "1 of 3 launches measured in 10 min, 21 min expected"


def test_an_arm_that_the_configuration_does_not_allow_is_named_before_and_after_with_the_key():
    reason = "its farm does not authenticate, so other users of the hosts could run code as you"
    key = "to measure it all the same, set `unauthenticated_farms: true` in config/config.yaml"
    chosen = {"task_latency": CHOSEN | {"arms": ["leastload", "dask"]}}
    unsafe = complete(farms={"dask": {"farm": "dask", "encrypted": False}}, experiments=chosen)
    found = Estimate("quick", [], left_out=plan.left_out(unsafe))
    for said in (found.outlook, found.review([], 0)):
        assert said.splitlines()[1] == f"not measured: dask of task_latency: {reason}; {key}"


def test_no_document_states_a_tiers_hours_because_a_dry_run_prints_them():
    root = PROJECT
    for page in ("README.md", "config/config.yaml", "config/README.md"):
        lines = [line for line in (root / page).read_text().splitlines() if "`paper`" in line or "paper:" in line]
        assert not [line for line in lines if re.search(r"\b(four|two|\d+) hours|day and a half|\d days", line)], page


def test_launches_with_more_ranks_on_a_host_than_processors_are_counted(config):
    assert expected(launches(2)).widths == [2, 2]
    assert estimate.oversubscribed([2, 9], 9) == estimate.oversubscribed([], 0) == ""
    assert estimate.oversubscribed([9], 4) == (
        "1 of 1 launch has more ranks on a host than it has logical processors, up to 9; its ranks take turns"
    )


def test_launches_that_request_more_time_than_a_job_may_are_counted():
    assert estimate.curtailed([30, 20], 30) == ""
    assert estimate.curtailed([30, 40], 20).startswith("2 of 2 launches would request more than the 20 min")
