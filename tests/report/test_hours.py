"""Does the page give the rounds, precision and phases of each experiment, and its precision after another hour?"""

import json
from math import sqrt

import pytest
from campaigns import mpi, zmq
from test_certainty import need, sensitivity

from crossover.planning.plan import SECOND_SWEEP
from crossover.report.sections import hours


def launch(number, seconds=100.0, **changes):
    phases = {"connection": 9.0, "calibration": 5.0, "arms": 40.0, "null arm": 10.0, "around blocks": 30.0, "end": 5.0}
    facts = {"experiment": "zmq_throughput", "placement": "node", "launch": number, "outcome": "measured", "job": None}
    costs = {"wall_seconds": seconds, "meeting_seconds": 1.0, "entering_seconds": None, "phases": json.dumps(phases)}
    return facts | costs | changes


def test_a_line_has_rounds_precision_time_phases_and_the_precision_after_one_more_hour():
    twelve = [launch(number) for number in range(1, 13)]
    (line,) = hours.bought(twelve, [sensitivity(zmq(), resolution=1.05)], [need(zmq(), launches=12, rounds=1)])
    assert list(line.values())[:4] == ["`zmq_throughput`", "12 × 1", "±5 %", "20 min"]
    shares = {name: line[name] for name in hours.GROUPS}
    assert shares == {
        "start and end": "15 %", "calibration": "5 %", "arms": "40 %", "null arm": "10 %", "ceilings": "0 %",
        "around blocks": "30 %",
    }  # fmt: skip
    assert line["after one more hour"] == "±2.5 %"


def test_holes_and_the_second_sweep_do_not_count_and_what_is_unknown_is_a_dash():
    hole, later = launch(2, outcome="hole"), launch(SECOND_SWEEP + 1)
    (line,) = hours.bought([launch(1), hole, later], [sensitivity(zmq(), resolution=None), sensitivity(mpi())], [])
    assert (line["launches × rounds"], line["precision"], line["after one more hour"]) == ("–", "–", "–")
    assert line["time"] == "1 min 40 s"


@pytest.mark.parametrize("times", [1, 3, 15])
def test_the_precision_improves_with_the_root_of_the_time(times):
    assert hours.after(0.1, 600, 600 * times) == pytest.approx(0.1 / sqrt(1 + times))
