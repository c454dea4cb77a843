"""The time of batch jobs, with launches that follow each other in one."""

import pytest

from crossover.records import allocation


def fact(job, entering_seconds, wall_seconds, timed_seconds=0.0, **more):
    return {
        "job": job,
        "entering_seconds": entering_seconds,
        "wall_seconds": wall_seconds,
        "timed_seconds": timed_seconds,
    } | more


TWO_JOBS = [
    (fact("7", 25.0, 10.0, 6.0, queued_seconds=1.0), 1),
    (fact("7", 10.0, 14.0, 9.0, queued_seconds=1.0), 1),
    (fact("8", 10.0, 10.0, 5.0, queued_seconds=4.0), 2),
]


def test_a_job_lasts_until_the_file_of_its_last_launch():
    one, two = allocation.jobs(each for each, _ in TWO_JOBS)
    assert [each["entering_seconds"] for each in one] == [10.0, 25.0]
    assert allocation.node_seconds(one, 1) == 35
    assert allocation.node_seconds(two, 2) == 40


def test_the_share_counts_every_node():
    assert allocation.timed_share(TWO_JOBS) == pytest.approx((6 + 9 + 2 * 5) / (35 + 40))


def test_without_a_job_there_is_no_share():
    assert allocation.timed_share([(fact(None, None, 10.0, 5.0), 1)]) is None


def test_a_later_launch_waits_for_the_end_of_the_one_before_it():
    first, second = allocation.own_delays(allocation.jobs(each for each, _ in TWO_JOBS)[0])
    assert (first["queued_seconds"], first["entering_seconds"]) == (1.0, 10.0)
    assert "queued_seconds" not in second
    assert second["entering_seconds"] == 1.0
