"""Is the choice at a point that of the table, and between two points no better than at the worse of both?"""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossover.query import answers
from crossover.records.outcome import OPEN, SETTLED, WINNER, Choice

SHARED = {
    "experiment": "zmq_throughput", "placement": "node", "protocol": "PUSH/PULL over tcp", "metric": "throughput",
    "axis": "message size", "axis_unit": "bytes", "unit": "messages/s", "better": "higher", "pattern": "PUSH/PULL",
}  # fmt: skip


def row(x, arm="copy", verdict=WINNER, guarantee=1.0, **changes):
    other = "no-copy" if arm == "copy" else "copy"
    facts = {
        "x": x, "choice": arm, "verdict": verdict, "guarantee": guarantee, "next": other, "value": 1e5, "low": 0.9e5,
        "high": 1.1e5, "factor": 1.5, "factor_low": 1.2, "factor_high": 1.9, "launches": 3, "launches_needed": None,
        "left": json.dumps([] if verdict == WINNER else [other]), "begins": None, "begins_low": None,
        "begins_high": None,
    }  # fmt: skip
    own = json.dumps({arm: guarantee})
    return Choice.of(SHARED | facts | {"candidates": own} | changes)


ROWS = [
    row(100.0),
    row(1000.0, verdict=SETTLED, guarantee=1.1),
    row(10000.0, "no-copy", OPEN, 1.601, begins=3000.0, begins_low=2000.0, begins_high=5000.0, launches_needed=7),
]


def at(x):
    return answers.chosen("ZeroMQ stream", ROWS, x)


def test_a_measured_point_has_its_row_its_value_and_the_next_arm():
    found = at(100.4)
    assert (found.x, found.arms, found.guarantee, found.verdict) == (100.0, ["copy"], 1.0, WINNER)
    first, second = found.lines
    assert first == "100 B (ZeroMQ stream, throughput): choose copy, surely the best"
    assert "100,000 messages/s [90,000, 110,000 messages/s], 1.50 times faster than no-copy" in second
    assert found.row["value"] == 1e5 and found.row["between"] == []


def test_between_points_with_one_choice_the_larger_guarantee_and_the_less_certain_verdict_hold():
    found = at(500)
    assert (found.arms, found.guarantee, found.verdict) == (["copy"], 1.1, SETTLED)
    assert "choose copy, at most 1.10 times worse than the best" in found.lines[0]
    assert found.row["between"] == [100.0, 1000.0] and found.row["value"] is None


def test_between_two_choices_both_are_named_with_the_boundary():
    found = at(2000)
    assert (found.arms, found.guarantee, found.verdict) == (["copy", "no-copy"], None, OPEN)
    assert "copy or no-copy; the second is better from 3 kB [2, 5 kB] on" in found.lines[0]
    assert found.row["choice"] is None and found.row["begins"] == 3000
    unknown = answers.chosen("x", [ROWS[0], replace(ROWS[2], begins=None, begins_low=100.0, begins_high=1e4)], 500)
    assert "from somewhere between 100 B and 10 kB on" in unknown.lines[0]


def test_an_open_point_names_what_may_be_better_and_rounds_its_bound_up():
    found = at(10000)
    assert "at most 1.61 times worse" in found.lines[0] and found.lines[-1] == "open: copy may be better"


@pytest.mark.parametrize("x", [50, 20000])
def test_outside_the_axis_there_is_no_choice(x):
    assert at(x) is None


@given(st.floats(100, 10000))
def test_a_point_is_never_more_certain_than_the_measured_ones_around_it(x):
    found = at(x)
    around = [each for each in ROWS if each in found.rows]
    assert around and (found.x == around[0].x or around[0].x < found.x < around[1].x)
    assert found.guarantee is None or found.guarantee == max(each.guarantee for each in around)
    json.dumps(found.row)
