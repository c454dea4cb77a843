"""Does the page begin with decisions that its tables support, and with the data behind them?"""

import re

from campaigns import NO_GAIN, Campaign, lasting, mpi, recommendation, run, tasks, two_good_one_hole, zmq
from hypothesis import given
from hypothesis import strategies as st
from test_terminal import STANDINGS, pair

from crossover.records.outcome import ALIKE, OPEN
from crossover.report.base import questions
from crossover.report.pages import summary
from crossover.report.sentences import decisions

LEADS = {"zmq_throughput": "throughput", "mpi_pingpong": "round trip", "task_latency": "round trip"}


def told(*curves, **changes):
    """The decisions of a campaign."""
    said = summary.sentences(run(Campaign(list(curves), **changes)), LEADS)
    return [line.removeprefix("- ") for line in said.splitlines() if line.startswith("- ")]


def test_decisions_are_followed_by_the_data_behind_them():
    said = summary.sentences(run(two_good_one_hole()), LEADS)
    decided, data = said.split("\n\n")
    assert 1 < len(decided.splitlines()) <= decisions.MOST
    assert data == (
        "6 of 9 launches have data; 3 holes are listed in @sec-holes. The possible bias is unknown: no null arm was "
        f"replicated. Ratios known to a factor of 1.25: 96 % of all axes. {summary.METHOD}"
    )


def test_a_setting_has_its_value_and_the_factors_at_decided_points():
    row = recommendation(x=6200.0, low=4800.0, high=8100.0)
    (first, *_) = told(zmq(), estimated={"recommendations": [row]})
    assert first == (
        "Set `copy_threshold` of pyzmq to 6.2 kB [4.8, 8.1 kB] (ZeroMQ stream): above, `no-copy` is 1.1 to 1.9 "
        "times faster."
    )


def test_a_call_says_where_it_is_faster():
    row = recommendation(
        library="mpi4py", setting="send, Send or pkl5", experiment="mpi_pingpong", metric="round trip", x=1.0,
        protocol="float64 array, thread level multiple", arm="Send", default="send", low=None, axis_unit="elements",
    )  # fmt: skip
    (first, *_) = told(mpi(), estimated={"recommendations": [row]})
    assert re.fullmatch(r"Use `Send` instead of `send` \(mpi4py arrays\): .* times faster .*\.", first)


def test_a_level_has_no_factor():
    alone = dict.fromkeys(("default", "gain", "gain_low", "gain_high", "points"))
    assert told(zmq(), estimated={"recommendations": [recommendation(**alone)]})[0] == (
        "Choose `copy_threshold` of pyzmq for 15 kB [9.3, 21 kB] (ZeroMQ stream): the size from which on lending is "
        "faster."
    )


def test_settings_without_a_recommendation_are_not_decisions():
    rows = [recommendation(**NO_GAIN)]
    assert told(zmq(), estimated={"recommendations": rows}) == told(zmq())


def test_alike_pairs_share_a_sentence_and_open_ones_another():
    alike = [tasks("round trip", slope=0.0, half_width=0.03), lasting(slope=0.0, half_width=0.03)]
    empty, longer = (f"Task farm, {tasks}, `pure` or `leastload`" for tasks in ("empty tasks", "longer tasks"))
    assert told(zmq(), *alike)[-1] == f"Alike at every point: {empty}; {longer}."
    assert told(zmq(), alike[0], lasting())[-1] == f"Alike at every point: {empty}. Open at every point: {longer}."


def test_one_launch_decides_nothing():
    assert told(zmq(launches=1)) == [
        "Nothing is decided: one launch has no interval. More `launches` in `config/config.yaml` give one."
    ]


def test_an_empty_run_says_so():
    assert summary.sentences(run(Campaign([])), LEADS) == "Nothing was launched."


@given(STANDINGS)
def test_no_decision_on_a_pair_contradicts_a_decided_point(standings):
    found = pair(*standings)
    text = decisions.winner(found, questions.names([found.panel]))
    decided = {found.winner(each) for each in found.cells} - {OPEN, ALIKE}
    assert set(re.findall(r"use `([^`]+)`", text)) == decided
    for who, cells in found.runs:
        if who in decided:
            assert f"use `{who}` {decisions.where(cells, found.cells)}" in text


@given(STANDINGS, st.integers(0, 7))
def test_no_decision_on_a_setting_hides_a_point_that_is_lost(standings, start):
    found = pair(*standings)
    place = 100.0 * 10 ** min(start, len(standings) - 1)
    row = recommendation(x=place, low=place, high=place, protocol=found.panel.protocol)
    text = decisions.setting(row, [found], questions.names([found.panel]))
    above = [each for each in found.cells if each["x"] >= place]
    won, lost = ([each for each in above if found.winner(each) == arm] for arm in ("no-copy", "copy"))
    if won:
        assert ("`copy` is better" in text) == bool(lost)
        assert decisions.factors(won) in text
        for word in (OPEN, ALIKE):
            assert (f"; {word} " in text) == any(found.winner(each) == word for each in above)
    else:
        assert "12.6 [8.87, 17.9] times better in throughput on average" in text
