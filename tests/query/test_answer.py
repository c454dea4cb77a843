"""Does an answer agree with the tables, and is it no more certain than the measured points around it?"""

import re
from itertools import groupby, pairwise
from types import SimpleNamespace

import pytest

from crossover.query import question
from crossover.query.answers import answer
from crossover.query.chosen import Chosen
from crossover.records.outcome import KNOWN, OPEN, SETTLED, WINNER

NUMBERS = ["x", "ratio", "low", "high", "launches"]


def every_arm(run):
    """Every panel of a run, with each arm that has ratios and its rows in the table of ratios."""
    frame, every = run.ratios(), run._tables
    rows = dict(list(frame.groupby(["experiment", "placement", "protocol", "metric", "arm"])))
    for experiment in every.experiments:
        for panel in every.panels(experiment):
            for arm in (arm for arm in panel.arms if arm != panel.reference):
                curve = rows.get((experiment, panel.placement, panel.protocol, panel.metric, arm))
                yield panel, arm, [] if curve is None else curve.to_dict("records")


def test_a_question_reaches_every_cell_of_the_table(real):
    run, seen = real[1], 0
    for panel, arm, rows in every_arm(run):
        keys = panel.keys
        # A key that only other curves have is asked for as missing.
        others = {key for other in run._tables.panels(panel.experiment) for key in other.keys}
        where = dict.fromkeys(others - keys.keys()) | panel.conditions
        for row in rows[:2]:
            [found] = run.ask(panel.experiment, row["x"], metric=panel.metric, arm=arm, **where).to_dict("records")
            assert [found[name] for name in NUMBERS] == pytest.approx([row[name] for name in NUMBERS], rel=1e-9)
            assert found["protocol"] == panel.protocol and not found["interpolated"]
            seen += 1
    assert seen > 100


def test_between_two_points_the_answer_is_theirs_if_they_agree_and_open_otherwise(real):
    decided = 0
    for run in real:
        for panel, arm, rows in every_arm(run):
            for left, right in pairwise(rows):
                middle = answer(panel, arm, "", left["x"] ** 0.6 * right["x"] ** 0.4)
                if len(middle.cells) == 2:
                    row, same = middle.row, left["verdict"] == right["verdict"]
                    assert (row["below_x"], row["above_x"], row["interpolated"]) == (left["x"], right["x"], True)
                    for name in ("ratio", "low", "high"):
                        assert row[name] == pytest.approx(left[name] ** 0.6 * right[name] ** 0.4)
                    assert row["verdict"] == (left["verdict"] if same else OPEN)
                    decided += row["verdict"] != OPEN
    assert decided > 50


def test_between_two_points_a_choice_is_an_arm_that_costs_little_at_both_or_both_are_named(real):
    kinds = set()
    for _, points in groupby((row for run in real for row in run._tables.choices), lambda row: row.curve):
        curve = SimpleNamespace(rows=tuple(points))
        for below, above in pairwise(curve.rows):
            if above.x <= below.x:
                continue
            middle = Chosen.at(curve, (below.x * above.x) ** 0.5)
            costs = {arm: max(below.costs[arm], above.costs.get(arm, 99)) for arm in below.costs}
            same, least = below.choice == above.choice, min(costs, key=costs.get)
            arms = [below.choice] if same else [least] if costs[least] <= KNOWN else [below.choice, above.choice]
            assert middle.rows == (below, above) and middle.arms == arms
            assert middle.guarantee == (costs[arms[0]] if len(arms) == 1 else None)
            verdicts = [below.verdict, above.verdict] if same else [SETTLED if len(arms) == 1 else OPEN]
            assert middle.verdict == min(verdicts, key=[OPEN, SETTLED, WINNER].index)
            assert middle.row["begins"] == (above.begins if len(arms) > 1 else None) and middle.row["value"] is None
            kinds.add((same, len(arms), middle.verdict))
        for place, end in ((0.9, curve.rows[0]), (1.1, curve.rows[-1])):
            beyond = Chosen.at(curve, end.x * place)
            assert (beyond.arms, beyond.guarantee, beyond.verdict) == ([end.choice], None, OPEN)
            assert beyond.row["extrapolated"] and beyond.row["value"] is None
    assert len(kinds) >= 5


def test_the_line_of_a_choice_bounds_what_it_costs(real):
    seen = 0
    for run in real:
        for point in ("40kB", "200kB", "8 tasks", "10ms", "5MB"):
            for one in run.chosen(run.find("", point)):
                if bound := re.search(r"at most ([\d,.]+) times", one.head):
                    assert float(bound[1].replace(",", "")) >= one.costs[one.arms[0]] * 0.999
                    seen += "either" not in one.head or any(f" or {arm}" in one.head for arm in one.equals)
    assert seen > 10


def test_a_point_that_is_printed_like_a_measured_one_is_that_point():
    points = [1000.0, 31_623.0]
    assert question.around(points, points, "bytes", 31_600.0) == (31_623,)
    assert len(question.around(points, points, "bytes", 31_000.0)) == 2
