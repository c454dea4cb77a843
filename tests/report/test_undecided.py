"""Are more launches planned where they would decide something, and nowhere else?"""

import pytest
from campaigns import Campaign, mpi, run, tasks, zmq

from crossover.config.leads import leads
from crossover.errors import CrossoverError
from crossover.report.sentences.winners import pairs
from crossover.report.terminal import undecided

LEADS = leads()


def replication(tables, *experiments):
    return undecided.replication(tables, pairs(tables.all_leading(LEADS)), experiments)


def near():
    return run(Campaign([tasks("round trip", slope=0.022), mpi()], half_width=0.06))


def test_an_experiment_with_a_pair_near_its_decision_gets_twice_its_launches():
    tables = near()
    found = replication(tables)
    own = [row for row in tables.launches if row["experiment"] == "task_latency"]
    assert set(found.launches) == {"task_latency"}
    assert found.launches["task_latency"] == 2 * len(own)
    assert found.seconds == pytest.approx(sum(row["wall_seconds"] for row in own))
    assert 0 < found.decided <= found.open


def test_a_hopeless_pair_gets_no_launches_unless_its_experiment_is_named(tmp_path):
    tables = run(Campaign([tasks("round trip", slope=0.0001)], half_width=0.06))
    assert replication(tables).launches == {} and replication(tables).open == 1
    named = replication(tables, "task_latency")
    assert named.launches and named.decided == 0


def test_nothing_to_decide_is_an_error_that_names_the_experiments(tmp_path):
    Campaign([zmq()]).write_tables(tmp_path)
    with pytest.raises(CrossoverError, match=r"would decide none of them; to narrow .* name it: zmq_throughput"):
        undecided.wanted(tmp_path, LEADS, [], None)


def test_an_unknown_experiment_is_named(tmp_path):
    Campaign([zmq()]).write_tables(tmp_path)
    with pytest.raises(CrossoverError, match="has no experiment nonsense; it has zmq_throughput"):
        undecided.wanted(tmp_path, LEADS, ["nonsense"], None)


@pytest.mark.parametrize(
    ("experiments", "count", "error"),
    [([], 5, "--launches needs an experiment"), (["zmq_throughput"], 401, "must be from 1 to 400")],
)
def test_a_count_needs_an_experiment_and_a_bound(tmp_path, experiments, count, error):
    Campaign([zmq()]).write_tables(tmp_path)
    with pytest.raises(CrossoverError, match=error):
        undecided.wanted(tmp_path, LEADS, experiments, count)


def test_the_named_count_of_launches_is_planned_with_its_time():
    tables = near()
    own = [row for row in tables.launches if row["experiment"] == "task_latency"]
    found = undecided.replication(tables, pairs(tables.all_leading(LEADS)), ["task_latency"], 4 * len(own))
    assert found.launches == {"task_latency": 4 * len(own)}
    assert found.seconds == pytest.approx(3 * sum(row["wall_seconds"] for row in own))
