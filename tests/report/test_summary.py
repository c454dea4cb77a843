"""Does the page begin with choices that its tables support, and with the data behind them?"""

import json

from campaigns import Campaign, mpi, run, steps, tasks, two_good_one_hole, zmq
from hypothesis import given
from test_terminal import STANDINGS

from crossover.records.outcome import OPEN, WINNER
from crossover.report.pages import summary
from crossover.report.sentences import choices

LEADS = {"zmq_throughput": "throughput", "mpi_pingpong": "round trip", "task_latency": "round trip"}


def told(*curves, **changes):
    """The first sentences of a campaign's page."""
    said = summary.sentences(run(Campaign(list(curves), **changes)), LEADS)
    return [line.removeprefix("- ") for line in said.splitlines() if line.startswith("- ")]


def test_choices_are_followed_by_the_data_behind_them():
    said = summary.sentences(run(two_good_one_hole()), LEADS)
    decided, data = said.split("\n\n")
    assert 1 < len(decided.splitlines()) <= summary.MOST
    assert data.startswith("6 of 9 launches have data; 3 holes are listed in @sec-holes. The possible bias is unknown")
    assert data.endswith(summary.METHOD) and "Within 1.25 times of the best: " in data


def test_a_question_that_most_people_ask_comes_first_with_what_its_choice_can_cost():
    first, second, third = told(tasks("round trip", slope=0.0, half_width=0.03), zmq(), mpi())
    assert first.startswith("**mpi4py arrays:** `Send` everywhere, ") and first.endswith(
        " than `send`. Surely the best."
    )
    assert second.startswith("**ZeroMQ stream:** `copy`, from ")
    assert (
        third.startswith("**Empty tasks on a farm: until all are done:** `") and " times worse than the best." in third
    )


def test_one_launch_and_an_empty_run_say_that_there_is_nothing_to_choose():
    assert "Nothing to choose" in summary.sentences(run(Campaign([zmq(launches=1)])), LEADS)
    assert summary.sentences(run(Campaign([])), LEADS) == "Nothing was launched."


@given(STANDINGS)
def test_words_follow_the_table(standings):
    tables = run(Campaign([steps(*standings)]))
    (question,) = choices.asked(tables)
    arms = [arm for arm, _ in question.segments]
    assert [row["choice"] for row in tables.choices] == [arm for arm, own in question.segments for _ in own]
    assert question.words.startswith(arms[0]) and question.words.count(", from ") == len(arms) - 1
    worst = max(tables.choices, key=lambda row: row["guarantee"])
    assert float(question.cost.split()[0]) >= worst["guarantee"] - 1e-9
    assert question.is_settled == all(row["verdict"] != OPEN for row in tables.choices)
    assert question.is_settled or all(arm in question.left for arm in json.loads(worst["left"]))
    assert ("Surely the best" in question.sentence) == all(row["verdict"] == WINNER for row in tables.choices)
