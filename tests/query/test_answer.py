"""Does an answer agree with the table of ratios, and do its words agree with its numbers?"""

import math
import re
from itertools import pairwise

import pytest

from crossover.design.protocol import known
from crossover.query.answers import NOT_MEASURED, answer
from crossover.report.text import tables

NUMBERS = ["x", "ratio", "low", "high", "launches"]


def every_arm(run):
    """Every panel of a run, with each arm that has ratios."""
    every = run._tables
    for experiment in every.experiments:
        for panel in every.panels(experiment):
            yield from ((panel, arm) for arm in dict.fromkeys(row["arm"] for row in panel.ratios))


def test_a_question_reaches_every_cell_of_the_table(real):
    run, seen = real[1], 0
    for panel, arm in every_arm(run):
        keys = known(panel.facts)
        # A key that only other curves have is asked for as missing.
        others = {key for other in run._panels(panel.experiment, panel.metric) for key in known(other.facts)}
        where = dict.fromkeys(others - keys.keys()) | keys | {"placement": panel.placement}
        for row in panel.ratios_of(arm)[:2]:
            [found] = run.ask(panel.experiment, row["x"], metric=panel.metric, arm=arm, **where).to_dict("records")
            assert [found[name] for name in NUMBERS] == pytest.approx([row[name] for name in NUMBERS], rel=1e-9)
            assert found["protocol"] == panel.protocol and not found["interpolated"]
            seen += 1
    assert seen > 100


def test_between_two_points_the_answer_is_theirs_if_they_agree_and_open_otherwise(real):
    decided = 0
    for run in real:
        for panel, arm in every_arm(run):
            for left, right in pairwise(panel.ratios_of(arm)):
                x = left["x"] * (right["x"] / left["x"]) ** 0.4
                if len(found := answer(panel, arm, "", x).cells) < 2:
                    continue
                outcome = answer(panel, arm, "", x).outcome
                assert found == (left, right)
                for name in ("ratio", "low", "high"):
                    ends = sorted([left[name], right[name]])
                    assert ends[0] * (1 - 1e-9) <= getattr(outcome, name) <= ends[1] * (1 + 1e-9)
                same = left["verdict"] == right["verdict"] is not None
                assert outcome.verdict == (left["verdict"] if same else "open")
                decided += same and left["verdict"] != "open"
    assert decided > 50


FACTS = {
    "experiment": "zmq_throughput", "placement": "node", "protocol": "tcp", "metric": "throughput", "arm": "no-copy",
    "reference": "copy", "is_null_arm": False, "ceiling": False, "axis": "message size", "axis_unit": "bytes",
    "better": "higher", "smallest_effect": 1.02,
}  # fmt: skip


def panel(verdict, ratios=(1.3, 1.4, 1.5), unit="messages/s", width=1.02, launches=3, **facts):
    """A panel whose cells all have a verdict."""
    ends = (None, None) if launches < 2 else (1 / width, width)
    rows = [
        FACTS | {"x": x, "ratio": ratio, "verdict": verdict, "launches": launches, "launches_needed": None} | facts
        | {name: end and ratio * end for name, end in zip(("low", "high"), ends, strict=True)}
        for x, ratio in zip((1000.0, 10_000.0, 31_623.0), ratios, strict=False)
    ]  # fmt: skip
    return tables.Panel("zmq_throughput", "throughput", "tcp", "node", [FACTS | {"unit": unit, "x": 1.0}], rows, [])


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (panel("better"), "no-copy is faster"),
        (panel("worse", unit="MB"), "no-copy is worse"),
        (panel("alike", (1.0, 1.0, 1.0)), "alike within 1.03 times"),
        (panel("open"), "open"),
        (panel(None, ceiling=True), "a ceiling, not a rival"),
    ],
)
def test_the_words_are_those_of_the_verdict(shown, words):
    for x in (1000.0, 5000.0):
        found = answer(shown, "no-copy", "ZeroMQ", x)
        assert found.verdict == words
        assert found.lines[0].endswith(f" times, possible bias 2 %: {words}")


def test_an_interpolated_answer_says_so_and_names_both_measured_points():
    found = answer(panel("better"), "no-copy", "ZeroMQ stream, tcp", 5000.0)
    far = math.log(5) / math.log(10)
    assert found.outcome.ratio == pytest.approx(1.3 ** (1 - far) * 1.4**far)
    assert found.lines[0].startswith("no-copy / copy at 5 kB (ZeroMQ stream, tcp): throughput 1.37 [")
    wanted = (
        r"between the measured 1 kB \(1.30 \[.*\], no-copy is faster\) and 10 kB \(1.40 \[.*\], no-copy is faster\); "
        "interpolated on the logarithmic axis"
    )
    assert re.fullmatch(wanted, found.lines[1])


def test_a_point_that_is_printed_like_a_measured_one_is_that_point():
    found = answer(panel("better"), "no-copy", "ZeroMQ", 31_600.0)
    assert found.x == 31_623 and found.lines[1] == "measured at this point, by 3 launches"
    assert len(answer(panel("better"), "no-copy", "ZeroMQ", 31_000.0).cells) == 2


def test_an_arm_that_was_not_measured_there_says_where_it_was():
    found = answer(panel("better"), "no-copy", "ZeroMQ", 1e6)
    assert found.verdict == found.row["verdict"] == NOT_MEASURED
    assert found.lines == ["no-copy / copy at 1 MB (ZeroMQ): not measured; the axis of this arm is 1 kB to 31.6 kB"]
