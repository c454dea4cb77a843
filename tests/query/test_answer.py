"""Does an answer agree with the table of ratios, and do its words agree with its numbers?"""

import math
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from crossover.analyse.curves.curve import NAMES, Curve, curves
from crossover.query import deciding
from crossover.query.answer import NO_DIFFERENCE, NOT_MEASURED, NOT_REPLICATED, answer
from crossover.records.protocol import known

NUMBERS = ["x", "ratio", "low", "high", "launches"]


def every_curve(run):
    """Every arm of every curve of a run that has ratios, with its rows of the table, along the axis."""
    table = {name: rows.sort_values("x") for name, rows in run.ratios().groupby(NAMES, sort=False)}
    for curve in curves(run._table("medians")):
        name = tuple(curve.facts[column] for column in NAMES)
        if name in table:
            yield curve, table[name].to_dict("records")


def test_an_answer_at_a_measured_point_is_the_row_of_the_table_for_all_cells(real):
    cells = 0
    for run in real:
        for own, rows in every_curve(run):
            for row in rows:
                found = answer(own, "", row["x"]).row
                assert [found[name] for name in NUMBERS] == pytest.approx([row[name] for name in NUMBERS], rel=1e-9)
                assert not found["interpolated"]
                cells += 1
    assert cells == sum(len(run.ratios()) for run in real) > 500


def test_a_question_reaches_every_arm_of_every_curve(real):
    run = real[1]
    for own, rows in every_curve(run):
        facts, row = own.facts, rows[len(rows) // 2]
        keys = known(facts)
        # A key that only other curves have is asked for as missing.
        others = {key for other in run._chosen(facts["experiment"], facts["metric"], {}) for key in known(other)}
        where = dict.fromkeys(others - keys.keys()) | keys | {"placement": facts["placement"]}
        found = run.ask(facts["experiment"], row["x"], metric=facts["metric"], arm=facts["arm"], **where)
        assert found[NUMBERS].to_numpy(float).ravel() == pytest.approx([row[name] for name in NUMBERS], rel=1e-9)
        assert list(found["protocol"]) == [facts["protocol"]]


def side(row):
    return int(row["low"] > 1) - int(row["high"] < 1)


def test_between_two_points_with_the_same_winner_the_answer_is_that_winner(real):
    decided = 0
    for run in real:
        for own, rows in every_curve(run):
            for left, right in pairwise(rows):
                for far in (0.1, 0.5, 0.9):
                    found = answer(own, "", left["x"] * (right["x"] / left["x"]) ** far)
                    low, high = sorted([left["ratio"], right["ratio"]])
                    assert low * (1 - 1e-9) <= found.point.ratio <= high * (1 + 1e-9)
                    if side(left) == side(right) != 0:
                        assert found.side == side(left) and not found.is_open and found.needed is None
                        assert NO_DIFFERENCE not in " ".join(found.lines)
                        decided += 1
    assert decided > 50


FACTS = {
    "experiment": "zmq_throughput", "placement": "node", "protocol": "tcp", "metric": "throughput", "arm": "no-copy",
    "reference": "copy", "null": False, "ceiling": False, "axis": "message size", "axis_unit": "bytes",
    "unit": "messages/s", "better": "higher", "levels": "[]",
}  # fmt: skip


def curve(ratios, x=(1000.0, 10_000.0, 31_623.0), **facts):
    d = np.log(np.asarray(ratios, float))
    counts = np.full(d.shape, 20.0)
    return Curve(FACTS | facts, list(range(1, 1 + len(d))), np.asarray(x), d, d, counts, counts)


FASTER = curve([[1.4, 1.5, 1.6], [1.42, 1.48, 1.61], [1.41, 1.52, 1.59]])
OPEN = curve([[0.9, 1.0, 1.2], [1.1, 1.1, 1.0], [1.0, 1.05, 1.15]])


@pytest.mark.parametrize(
    ("ratios", "facts", "verdict"),
    [
        (FASTER, {}, "no-copy is faster"),
        (FASTER, {"better": "lower", "unit": "s"}, "no-copy is slower"),
        (FASTER, {"better": "lower", "unit": "MB"}, "no-copy is worse"),
        (OPEN, {}, NO_DIFFERENCE),
        (curve([[1.4, 1.5, 1.6]]), {}, NOT_REPLICATED),
    ],
)
def test_the_verdict_follows_from_the_interval(ratios, facts, verdict):
    own = Curve(**(vars(ratios) | {"facts": ratios.facts | facts}))
    for x in (1000.0, 5000.0):
        assert answer(own, "ZeroMQ", x).verdict == verdict
        assert answer(own, "ZeroMQ", x).lines[0].endswith(f" times, {verdict}")


def test_an_interpolated_answer_says_so_and_names_both_measured_points():
    found = answer(OPEN, "ZeroMQ stream, tcp", 5000.0)
    middle = math.log(5) / math.log(10)
    expected = np.exp((1 - middle) * OPEN.ratios[:, 0].mean() + middle * OPEN.ratios[:, 1].mean())
    assert found.point.ratio == pytest.approx(expected)
    head, place = found.lines
    assert head.startswith("no-copy / copy at 5 kB (ZeroMQ stream, tcp): throughput 1.03 [")
    wanted = (
        r"between the measured 1 kB \(0.997 \[.*\]\) and 10 kB \(1.05 \[.*\]\); interpolated on the logarithmic axis"
    )
    assert re.fullmatch(wanted, place)


def test_a_common_winner_is_kept_where_the_launches_disagree_on_the_interpolated_point():
    # Few launches measured both points, so the error of a mean of both is large.
    nan = math.nan
    shifts = [[1.30, nan], [1.31, nan], [1.32, 2.4], [1.31, 1.2], [nan, 1.70], [nan, 1.71], [nan, 1.72], [nan, 1.70]]
    own = curve(shifts, x=(1000.0, 10_000.0))
    found = answer(own, "ZeroMQ", 6000.0)
    assert found.point.low < 1 < found.point.high and [each.side for each in found.neighbours] == [1, 1]
    assert found.verdict == "no-copy is faster" and "; no-copy is faster at both; interpolated" in found.lines[1]


def test_a_point_that_is_printed_like_a_measured_one_is_that_point():
    found = answer(FASTER, "ZeroMQ", 31_600.0)
    assert found.x == 31_623 and found.lines[1] == "measured at this point, by 3 launches"
    assert answer(FASTER, "ZeroMQ", 31_000.0).neighbours


def test_an_arm_that_was_not_measured_there_says_where_it_was():
    found = answer(FASTER, "ZeroMQ", 1e6)
    assert found.verdict == NOT_MEASURED and not found.is_open
    assert found.lines == ["no-copy / copy at 1 MB (ZeroMQ): not measured; the axis of this arm is 1 kB to 31.6 kB"]


# ---- how to decide an open answer


def launches(count, seconds=30.0, settings="{}"):
    row = {"experiment": "zmq_throughput", "placement": "node", "settings": settings, "wall_seconds": seconds}
    return pd.DataFrame([row | {"launch": number} for number in range(1, count + 1)])


def spread(launches, ratio=1.1, sd=0.1):
    """A curve of one cell whose launches have this mean and standard deviation, on the logarithmic scale."""
    shifts = np.linspace(-1, 1, launches)
    d = np.log(ratio) + sd * shifts / shifts.std(ddof=1)
    return curve(np.exp(d)[:, np.newaxis], x=(1000.0,))


def test_as_many_launches_as_it_names_would_decide_it():
    found = answer(spread(3), "ZeroMQ", 1000.0)
    assert found.is_open and 3 < found.needed <= 12
    assert answer(spread(found.needed), "ZeroMQ", 1000.0).verdict == "no-copy is faster"
    assert answer(spread(found.needed - 1), "ZeroMQ", 1000.0).verdict == NO_DIFFERENCE
    line = deciding.remedy(found, launches(3))
    more = (found.needed - 3) * 30
    assert line.startswith(
        f"to decide it, if the ratio stays 1.10: crossover more zmq_throughput --launches {found.needed} (about"
    )
    assert f"{more // 60} min" in line or f"{more} s" in line


def test_a_ratio_too_near_one_is_not_promised_a_decision():
    line = deciding.remedy(answer(spread(3, ratio=1.0001), "ZeroMQ", 1000.0), launches(3))
    assert line.startswith(
        "to decide it takes more than 12 launches; to narrow the interval: crossover more zmq_throughput --launches 12"
    )


def test_launches_that_failed_count_as_planned():
    found = answer(spread(3), "ZeroMQ", 1000.0)
    line = deciding.remedy(found, launches(6))
    assert f"--launches {2 * found.needed} " in line


def test_a_single_launch_is_replicated_first():
    line = deciding.remedy(answer(curve([[1.4, 1.5, 1.6]]), "ZeroMQ", 1000.0), launches(1))
    assert line.startswith("to replicate it: crossover more zmq_throughput --launches 3")
    assert line.endswith("(about 1 min)")


def test_a_decided_answer_needs_no_command():
    assert deciding.remedy(answer(FASTER, "ZeroMQ", 5000.0), launches(3)) is None
