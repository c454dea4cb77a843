"""Are more launches planned where they would decide something, and nowhere else?"""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from campaigns import Campaign, mpi, near, run, steps, tasks, zmq

from crossover.errors import CrossoverError
from crossover.report.text import more

TABLES, FAR = (run(Campaign(curves)) for curves in ([near(), mpi()], [tasks("round trip")]))
OWN = [row for row in TABLES.launches if row.experiment == "task_latency"]
SECONDS = sum(row.wall_seconds for row in OWN)


def replication(tables, *experiments):
    return more.replication(tables, experiments, None)


def test_an_experiment_with_a_pair_near_its_decision_gets_twice_its_launches():
    found = replication(TABLES)
    assert found.launches == {"task_latency": 2 * len(OWN)}
    assert found.seconds == pytest.approx(SECONDS)
    assert 0 < found.settled <= found.open


def test_points_far_from_settled_get_no_launches_unless_their_experiment_is_named():
    found = replication(FAR)
    assert (found.launches, found.settled) == ({}, 0) and found.open
    named = replication(FAR, "task_latency")
    assert named.launches and named.settled == 0


def test_a_question_of_one_launch_is_measured_again():
    found = replication(run(Campaign([zmq(launches=1)])))
    assert (found.launches, found.open) == ({"zmq_throughput": 2}, 0)


@pytest.mark.parametrize(
    ("experiments", "count", "error"),
    [
        ([], None, r"points? of the run .* open, but 2 times .* settle none .* name it: task_latency"),
        (["nonsense"], None, "has no experiment nonsense; it has task_latency"),
        ([], 5, "--launches needs an experiment; name one: task_latency"),
        (["task_latency"], 401, "must be from 1 to 400"),
    ],
)
def test_a_wish_that_cannot_be_met_is_an_error_with_a_remedy(experiments, count, error):
    with pytest.raises(CrossoverError, match=error):
        more.wanted(FAR, experiments, count)


def test_the_named_count_of_launches_is_planned_with_its_time():
    found = more.wanted(TABLES, ["task_latency"], 4 * len(OWN))
    assert found.launches == {"task_latency": 4 * len(OWN)}
    assert found.seconds == pytest.approx(3 * SECONDS)


@pytest.mark.parametrize(
    ("curve", "left", "words"),
    [
        (zmq(launches=1), [(1, None)], "zmq_throughput --launches 3 (about 40 s)"),
        (near(), [(3, 5)], "task_latency --launches 5 (about 40 s)"),
        # One of the three launches failed at the open points.
        (near(), [(2, 4), (3, 4)], "task_latency --launches 6 (about 1 min)"),
        (steps((0.1, 10.0)), [(3, None)], "zmq_throughput --launches 12 (about 3 min)"),
    ],
)
def test_an_open_point_has_the_command_that_may_decide_it(curve, left, words):
    told = more.remedy(run(Campaign([curve])), curve.experiment, left)
    assert told == f"more launches may decide it: crossover more {words}"
    assert more.remedy(run(Campaign([curve])), curve.experiment, []) is None


def test_an_open_point_of_a_users_function_has_the_trial_that_may_decide_it():
    tables = run(Campaign([tasks("round trip", experiment="own_task")]))
    named = [replace(row, settings={"file": "my_work.py"}) for row in tables.launches]
    tables = replace(tables, launches=named)
    told = more.remedy(tables, "own_task", [(3, 6)])
    assert told == "more time may decide it: crossover try my_work.py --minutes 2"
    assert more.at_point(tables, SimpleNamespace(experiment="own_task", axis_unit="items"), 20.0) == (
        "to measure at 20 items: crossover try my_work.py --counts 20"
    )
