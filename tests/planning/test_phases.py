"""The time of batch jobs, with launches that follow each other in one."""

from dataclasses import replace

import pytest

from crossover.planning import estimate
from crossover.records.rows import Launch


def fact(job, entering_seconds, wall_seconds, timed_seconds=0.0, **more):
    seconds = {"entering_seconds": entering_seconds, "wall_seconds": wall_seconds, "timed_seconds": timed_seconds}
    return Launch.of({"job": job} | seconds | more)


LATER = fact("7", 25.0, 10.0, 6.0, queued_seconds=1.0)
FIRST = fact("7", 10.0, 14.0, 9.0, queued_seconds=1.0)
ALONE = fact("8", 10.0, 10.0, 5.0, queued_seconds=4.0)
HERE = fact(None, None, 10.0, 5.0)


def test_a_later_launch_waits_only_for_the_end_of_the_one_before_it():
    first, later, alone, here = estimate.apart([LATER, FIRST, ALONE, HERE])
    assert (first, alone, here) == (FIRST, ALONE, HERE)
    assert (later.entering_seconds, later.queued_seconds) == (1.0, None)


def test_the_launches_of_a_job_add_up_to_its_duration():
    assert sum(estimate.node_seconds(own, 1) for own in estimate.apart([LATER, FIRST])) == 25 + 10


def test_no_duration_of_an_earlier_release_is_negative():
    found = estimate.apart([replace(FIRST, entering_seconds=-900.0), replace(LATER, entering_seconds=-885.0)])
    assert [each.entering_seconds for each in found] == [0.0, 1.0]
    assert estimate.timed_share((each, 1) for each in found) == 15 / 25


def test_the_share_counts_every_node():
    facts = zip(estimate.apart([LATER, FIRST, ALONE]), (1, 1, 2), strict=True)
    assert estimate.timed_share(facts) == pytest.approx((6 + 9 + 2 * 5) / (35 + 40))


def test_without_a_job_there_is_no_share():
    assert estimate.timed_share([(HERE, 1)]) is None


def phased(wall_seconds, meeting_seconds, **phases):
    return replace(HERE, wall_seconds=wall_seconds, meeting_seconds=meeting_seconds, phases=phases)


def test_the_phases_of_launches_add_up_to_their_wall_time():
    first = phased(10.0, 1.0, connection=2.0, calibration=1.0, arms=4.0, end=0.5)
    second = phased(30.0, 1.0, connection=0.0, arms=20.0, ceilings=3.0, end=1.0)
    assert estimate.phases_of([first, second, HERE, replace(HERE, phases=None)]) == pytest.approx(
        {"entry": 0, "start": 0.1, "calibration": 0.025, "warm-up": 0, "arms": 0.6, "null arm": 0, "ceilings": 0.075}
        | {"around blocks": 0, "end": 0.2}
    )


def test_the_time_before_a_launch_of_a_job_is_its_entry():
    alone = phased(30.0, 1.0, connection=2.0, arms=20.0, end=1.0)
    parts = estimate.phases_of([replace(alone, entering_seconds=10.0, job="7")])
    assert (parts["entry"], parts["start"], parts["arms"], parts["end"]) == pytest.approx((0.25, 0.075, 0.5, 0.175))


def test_without_recorded_phases_nothing_is_said():
    assert estimate.phases_of([HERE]) == {} and estimate.phases_in_words({}) == ""
