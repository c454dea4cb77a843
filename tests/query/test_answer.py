"""Does an answer agree with the tables, and is it no more certain than the measured points around it?"""

from itertools import groupby, pairwise

import pytest

from crossover.query import answers, question
from crossover.query.answers import answer
from crossover.records.outcome import OPEN, SETTLED, WINNER

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
        others = {key for other in run._panels(panel.experiment, panel.metric) for key in other.keys}
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


def test_between_two_points_a_choice_has_the_larger_guarantee_and_the_less_certain_verdict(real):
    kinds = set()
    for _, points in groupby((row for run in real for row in run._tables.choices), lambda row: row.curve):
        curve = list(points)
        for below, above in pairwise(curve):
            if above.x <= below.x:
                continue
            middle = answers.chosen("", curve, (below.x * above.x) ** 0.5)
            same = below.choice == above.choice
            verdicts = [below.verdict, above.verdict] if same else [OPEN]
            assert middle.rows == (below, above) and middle.arms == list(dict.fromkeys([below.choice, above.choice]))
            assert middle.guarantee == (max(below.guarantee, above.guarantee) if same else None)
            assert middle.verdict == min(verdicts, key=[OPEN, SETTLED, WINNER].index)
            assert middle.row["begins"] == (None if same else above.begins) and middle.row["value"] is None
            kinds.add((same, middle.verdict))
        assert answers.chosen("", curve, curve[0].x * 0.9) is answers.chosen("", curve, curve[-1].x * 1.1) is None
    assert len(kinds) == 4


def test_a_point_that_is_printed_like_a_measured_one_is_that_point():
    points = [1000.0, 31_623.0]
    assert question.around(points, points, "bytes", 31_600.0) == (31_623,)
    assert len(question.around(points, points, "bytes", 31_000.0)) == 2
