"""Does the page give the possible bias, the needs of the next run and the launches that settled?"""

import pytest
from campaigns import Campaign, lasting, mpi, zmq

from crossover.records import record
from crossover.report.pages.index import Page
from crossover.report.sections import certainty

LEADS = {"zmq_throughput": "throughput", "mpi_pingpong": "round trip"}


def of(curve, **changes):
    """A row that names a curve."""
    shared = {
        "experiment": curve.experiment, "placement": "node", "protocol": curve.protocol, "metric": curve.metric,
        "arm": curve.arm, "reference": curve.reference, "launches": 3, "cells": 13,
    }  # fmt: skip
    return shared | changes


def sensitivity(curve, effect=1.031, resolution=1.052, **changes):
    return of(curve, null_cells=13, smallest_effect=effect, resolution=resolution, **changes)


def need(curve, **changes):
    shares = {"launch_share": 0.6, "round_share": 0.39, "order_share": 0.01}
    asked = {"rounds": 14, "half_width": 0.08, "wanted": 0.02, "launch_seconds": 4.0, "round_seconds": 0.5}
    return of(
        curve, **(shares | asked | {"launches_needed": 9, "rounds_needed": 31, "seconds_needed": 4000.0} | changes)
    )


def series(count=1, launch=1, state="flat", ratio_state="flat", **changes):
    told = {"experiment": "zmq_throughput", "placement": "node", "launch": launch, "series": count}
    return told | {"state": state, "ratio_state": ratio_state} | changes


def test_bias_stands_beside_chance_and_beside_what_was_asked_for():
    assert [list(line.values()) for line in certainty.sure([sensitivity(zmq())], [need(zmq())])] == [
        ["`zmq_throughput`", zmq().protocol, "`no-copy` / `copy`", "3.1 %", "±5.2 %", "±2 %"]
    ]


def test_an_unknown_number_is_a_dash():
    (line,) = certainty.sure([sensitivity(zmq(), None, None)], [])
    assert list(line.values())[-3:] == ["–", "–", "–"]
    nothing = dict.fromkeys(
        ("launch_share", "round_share", "order_share", "half_width", "wanted", "launches_needed", "rounds_needed",
         "seconds_needed")
    )  # fmt: skip
    (line,) = certainty.needs([need(zmq(), **nothing)])
    assert list(line.values())[3:] == ["not replicated", "3 × 14", "–", "–", "–", "–"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            [sensitivity(zmq())],
            "leave room for a bias of up to 3.1 % (13 null cells); the precision of the rivals is ±5.2 %.",
        ),
        (
            [sensitivity(zmq()), sensitivity(zmq(arm="default"), resolution=1.09)],
            "the precision of the rivals is ±5.2 % at best, ±9 % at worst.",
        ),
        (
            [sensitivity(zmq(), 1.0)],
            "the null arms show no bias (13 null cells); the precision of the rivals is ±5.2 %.",
        ),
        ([sensitivity(zmq(), None)], "no null arm was replicated"),
        ([sensitivity(zmq()) | {"null_cells": 2}], "(2 null cells; so few can hide a bias that differs from point to"),
        (
            [sensitivity(zmq(), resolution=None)],
            "leave room for a bias of up to 3.1 % (13 null cells); no arm was replicated.",
        ),
    ],
)
def test_each_experiment_and_placement_has_a_sentence(rows, words):
    told = certainty.sentences(rows)
    assert told.startswith("- `zmq_throughput` in placement `node`, throughput:")
    assert words in told


def test_placements_are_separate():
    told = certainty.sentences([sensitivity(zmq()), sensitivity(zmq(), placement="process")])
    assert told.count("\n") == 1
    assert (
        certainty.sure([sensitivity(zmq(), placement="process")], [])[0]["experiment"] == "`zmq_throughput` (process)"
    )


def test_needs_tell_the_noise_the_plan_and_its_time():
    assert list(certainty.needs([need(zmq())])[0].values())[3:] == [
        "launch 60 %, round 39 %, order 1 %", "3 × 14", "±8 %", "±2 %", "9 × 31", "1 h 6 min",
    ]  # fmt: skip


def test_series_are_counted_by_state_separately_for_values_and_ratios():
    rows = [
        series(40),
        series(3, state="warm-up"),
        series(2, launch=2, state="slowdown", ratio_state="no steady state"),
    ]
    lines = certainty.steady([*rows, series(5, ratio_state=None)])
    assert [list(line.values()) for line in lines] == [
        ["`zmq_throughput`", "values", "50", "45", "3", "2", "0", "0"],
        ["`zmq_throughput`", "ratios", "45", "43", "0", "0", "2", "0"],
    ]


def test_launches_that_did_not_settle_are_named_with_the_worst_first():
    bad = [series(count, launch, ratio_state="no steady state") for launch, count in ((1, 1), (3, 4))]
    told = certainty.unsettled([*bad, *(series(10, launch) for launch in (1, 2, 3)), series(9, 2, ratio_state=None)])
    assert told == (
        "`zmq_throughput`: ratios without a steady state occur in launch 3 (4 of 14) and launch 1 (1 of 11)."
    )


def test_many_launches_are_not_all_named():
    bad = [series(1, launch, ratio_state="no steady state") for launch in range(1, 10)]
    assert certainty.unsettled(bad).endswith("launch 5 (1 of 1) and 4 more.")


def test_the_page_says_if_every_launch_settled_or_none_could_be_judged():
    assert "every ratio with enough rounds has a steady state" in certainty.unsettled([series(10)])
    assert certainty.unsettled([series(10, ratio_state="too few rounds")]) == ""


# ---- on the page


def test_the_page_lists_only_leading_metrics_in_the_order_of_its_sections(tmp_path):
    curves = [mpi(), zmq(), zmq(metric="bandwidth")]
    rows = {"sensitivity": [sensitivity(curve) for curve in curves], "needs": [need(curve) for curve in curves]}
    page = Page(LEADS, Campaign(curves, estimated=rows).write_tables(tmp_path))
    assert [line.split(" | ")[0].strip("| ") for line in str(page.sure().data).splitlines()[2:]] == [
        "`zmq_throughput`",
        "`mpi_pingpong`",
    ]
    assert str(page.certainty().data).count("null arms") == 2
    assert str(page.needs().data).count("9 × 31") == 2


def test_a_changed_table_changes_the_text(tmp_path):
    said = []
    for number, effect in enumerate((1.031, 1.072)):
        rows = {"sensitivity": [sensitivity(zmq(), effect)]}
        page = Page(LEADS, Campaign([zmq()], estimated=rows).write_tables(tmp_path / str(number)))
        said.append((page.certainty().data, page.sure().data))
    assert all(("3.1 %" in first, "7.2 %" in second) == (True, True) for first, second in zip(*said, strict=True))
    assert not any("3.1 %" in text for text in said[1])


def test_the_states_are_counted_from_the_table(tmp_path):
    steady = [
        of(zmq(), launch=launch, x=x, rounds=20, state="flat", ratio_state="no steady state" if x > 5e5 else "flat")
        for launch in (1, 2)
        for x in zmq().points
    ]
    shown = str(Page(LEADS, Campaign([zmq()], estimated={"steady": steady}).write_tables(tmp_path)).steady().data)
    assert "| `zmq_throughput` | ratios | 26 | 24 | 0 | 0 | 2 | 0 |" in shown
    assert "launch 1 (1 of 13) and launch 2 (1 of 13)" in shown


def test_without_rows_the_page_says_so(tmp_path):
    page = Page(LEADS, Campaign([lasting()]).write_tables(tmp_path))
    assert page.certainty().data == page.sure().data == page.needs().data == "No arm could be compared with another."
    assert page.steady().data == "Nothing was measured."
    assert page.fits().data == "No time was measured against size."


def test_every_state_has_its_column():
    names = {"flat", "warm-up", "slowdown", "no steady state", "too few rounds"}
    assert set(certainty.STATES) == names
    assert "state" in record.STEADY.names


def test_groups_of_launches_are_listed_with_their_numbers():
    shared = {
        "experiment": "mpi_pingpong", "placement": "node", "protocol": "array", "metric": "round trip", "arm": "Send",
        "reference": "send", "axis_unit": "elements", "x": 100000.0, "p": 0.01,
    }  # fmt: skip
    lower = shared | {"group": 1, "ratio": 0.06, "members": "1, 3, 4", "launches": 3}
    upper = shared | {"group": 2, "ratio": 0.24, "members": "2", "launches": 1}
    (line,) = certainty.groups([lower, upper])
    assert list(line.values())[2:] == [
        "`Send` / `send`",
        "100,000 elements",
        "0.0600 (launches 1, 3, 4)",
        "0.240 (launch 2)",
    ]
    many = upper | {"members": "5, 6, 7, 8, 9, 10", "launches": 6}
    assert certainty.groups([lower, many])[0]["ratio of the other"].endswith("(6 launches)")
