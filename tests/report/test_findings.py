"""Do the sentences on crossovers, thresholds and the refinement agree with the tables, and change with them?"""

import json

import label_keys
import pytest
from campaigns import Campaign, lasting, launch_row, mpi, panel, run, steps, threshold, zmq
from hypothesis import given
from hypothesis import strategies as st

from crossover.design.protocol import identity
from crossover.report.charts import figures
from crossover.report.pages.index import Page
from crossover.report.text import findings
from crossover.report.text.tables import Panel

WORSE, OPEN, EQUAL, BETTER = (0.4, 0.6), (0.7, 1.4), (0.9, 1.1), (1.8, 2.2)
LEADS = {"zmq_throughput": "throughput", "mpi_pingpong": "round trip", "task_latency": "round trip"}

TCP, IPC = (zmq(f"PUSH/PULL over {transport}, 64 MB in flight") for transport in ("tcp", "ipc"))


@pytest.mark.parametrize(
    ("intervals", "words"),
    [
        ([WORSE, BETTER], "faster above it"),
        ([BETTER, BETTER], "always faster"),
        ([BETTER, OPEN], "faster or open"),
        ([EQUAL, BETTER], "faster or alike"),
        ([OPEN, WORSE, EQUAL], "slower or alike or open"),
        ([WORSE, BETTER, WORSE], "crosses several times"),
        ([EQUAL, EQUAL], "alike"),
        ([EQUAL, OPEN], "open"),
    ],
)
def test_each_verdict_on_a_crossover_has_its_words(intervals, words):
    assert findings.verdict(panel(steps(*intervals)), "no-copy") == words


@pytest.mark.parametrize(
    ("low", "high", "where"),
    [
        (100.0, 1e6, ""),
        (100.0, 4600.0, "at 4.6 kB or below"),
        (4600.0, 1e6, "at 4.6 kB or above"),
        (4600.0, 10_000.0, "between 4.6 kB and 10 kB"),
        (None, None, ""),
    ],
)
@pytest.mark.parametrize("decided", [BETTER, OPEN])
def test_without_a_crossover_its_possible_range_is_given(decided, low, high, where):
    shown = panel(steps(OPEN, OPEN, decided, OPEN, OPEN))
    shown.crossover_of("no-copy").update(low=low, high=high)
    [line] = findings.crossover_lines([shown])
    assert line["crossover"] == (f"none found; one could lie {where}" if where else "–")


WORDS = [
    ("s", "faster", "slower"),
    ("messages/s", "faster", "slower"),
    ("MB/s", "faster", "slower"),
    ("", "better", "worse"),
    ("times", "better", "worse"),
    ("MB", "better", "worse"),
]


@pytest.mark.parametrize("better", ["higher", "lower"])
@pytest.mark.parametrize(("unit", "ahead", "behind"), WORDS)
@pytest.mark.parametrize(("verdict", "words"), [("always", "always {}"), ("none", "{} or open")])
def test_only_times_and_rates_are_fast_or_slow(verdict, words, unit, ahead, behind, better):
    # The ratio is below one on the whole axis.
    curve = steps(WORSE, WORSE if verdict == "always" else OPEN, unit=unit, better=better)
    assert findings.verdict(panel(curve), "no-copy") == words.format(behind if better == "higher" else ahead)


@pytest.mark.parametrize("better", ["higher", "lower"])
@pytest.mark.parametrize(("unit", "ahead", "behind"), WORDS)
def test_a_crossover_has_the_word_of_its_unit(unit, ahead, behind, better):
    curve = steps(WORSE, BETTER, unit=unit, better=better)
    word = ahead if better == "higher" else behind
    assert findings.verdict(panel(curve), "no-copy") == f"{word} above it"


@pytest.mark.parametrize("ratio", [30.0, 1 / 30])
def test_a_ratio_that_is_far_from_one_but_open_decides_no_sentence(ratio):
    # Slower in all cells but the last, which looks thirty times faster or slower but is open.
    noisy = run(Campaign([steps(WORSE, WORSE, (0.6, 0.8), (ratio / 1000, ratio * 1000))]))
    shown = noisy.panels("zmq_throughput")[0]
    assert findings.verdict(shown, "no-copy") == "slower or open"


def test_an_open_end_does_not_decide_the_direction_of_a_crossover():
    shown = panel(steps(WORSE, BETTER, (0.01, 4.0)))
    assert findings.verdict(shown, "no-copy") == "faster above it"


def test_one_launch_has_no_interval_and_no_verdict():
    assert findings.verdict(panel(zmq(launches=1)), "no-copy") == "not replicated"


@given(st.lists(st.sampled_from([WORSE, OPEN, EQUAL, BETTER]), min_size=1, max_size=8))
def test_no_sentence_contradicts_a_point_of_its_table(intervals):
    found = run(Campaign([steps(*intervals)]))
    shown = found.panels("zmq_throughput")[0]
    verdict = shown.crossover_of("no-copy")["verdict"]
    words = findings.verdict(shown, "no-copy")
    if verdict in ("always", "none"):
        assert ("faster" in words) == (BETTER in intervals) and ("slower" in words) == (WORSE in intervals)


@pytest.mark.parametrize(
    ("verdict", "words", "bracket"),
    [
        ("from", "from **2 ms [1.8, 2.3 ms]** on", "1 ms to 10 ms"),
        ("up to", "up to **2 ms [1.8, 2.3 ms]**", "1 ms to 10 ms"),
        ("always", "at every measured point", "–"),
        ("never", "at no measured point", "–"),
        ("partly", "at some measured points, open at the last", "–"),
        ("at the latest", "at the latest from 10 ms on", "–"),
        ("not yet", "not yet at 1 ms, open beyond", "–"),
        ("several", "on and off, several times along the axis", "–"),
        ("open", "open", "–"),
    ],
)
def test_each_verdict_has_its_words(verdict, words, bracket):
    shown = panel(lasting(), thresholds=[threshold("pure", 0.5, verdict)])
    assert [list(line.values())[1:] for line in findings.threshold_lines([shown])] == [
        ["`pure`", "50 %", words, bracket]
    ]


def test_a_single_launch_is_called_not_replicated():
    shown = panel(lasting(), thresholds=[threshold("pure", 0.5, "open", launches=1)])
    assert [line["reached"] for line in findings.threshold_lines([shown])] == ["not replicated"]


def test_levels_are_sorted_and_arms_keep_their_order_without_the_null_arm():
    rows = [threshold(arm, level, "always") for level in (0.95, 0.5) for arm in ("pure", "null", "leastload")]
    shown = panel(lasting(), thresholds=rows)
    assert [(line["arm"], line["level"]) for line in findings.threshold_lines([shown])] == [
        ("`leastload`", "50 %"),
        ("`pure`", "50 %"),
        ("`leastload`", "95 %"),
        ("`pure`", "95 %"),
    ]


def test_a_metric_without_levels_has_no_line_and_no_mark():
    shown = panel(mpi())
    assert findings.threshold_lines([shown]) == []
    rules = [layer for layer in figures.curve(shown).to_dict()["layer"] if layer["mark"]["type"] == "rule"]
    assert rules == []


def test_the_chart_has_room_for_every_level_and_marks_it():
    chart = figures.curve(
        panel(lasting(), thresholds=[threshold("pure", 0.1, "always"), threshold("pure", 0.95, "from")])
    ).to_dict()
    marks = [layer for layer in chart["layer"] if layer["mark"]["type"] == "rule"]
    levels, places = (
        [mark["data"]["values"][0] for mark in marks if ("arm" in mark["data"]["values"][0]) is of_an_arm]
        for of_an_arm in (False, True)
    )
    assert levels == [{"y": 0.1, "text": "10 %"}, {"y": 0.95, "text": "95 %"}]
    (place,) = places
    assert (place["arm"], place["y"], place["low"], place["high"]) == ("pure", 0.95, 1800, 2300)
    assert place["tooltip"] == "pure reaches 95 % at 2 ms [1.8, 2.3 ms]"
    low, high = next(layer for layer in chart["layer"] if layer["mark"]["type"] == "line")["encoding"]["y"]["scale"][
        "domain"
    ]
    assert low < 0.1 and high > 0.95


def test_the_table_of_thresholds_is_below_the_figure(tmp_path):
    campaign = Campaign([lasting()], thresholds=[threshold("pure", 0.5, "from")])
    page = Page({"task_map": "efficiency"}, campaign.write(tmp_path))
    shown = page.experiment("task_map").data
    assert shown.index("crossover-chart") < shown.index("| curve | arm | level | reached |")


def refining(launch, points=(4642, 6813, 10000), **changes):
    """A row of a launch of the refinement."""
    settings = json.dumps({"cells": {identity(label_keys.keys(TCP.protocol)): list(points)}})
    return launch_row("zmq_throughput", launch) | {"settings": settings} | changes


def panels(*launches) -> tuple[dict[str, Panel], list]:
    tables = run(Campaign([TCP, IPC]))
    every = [*tables.launches, *launches]
    return {panel.protocol: panel for panel in tables.panels("zmq_throughput")}, every


def test_the_launches_and_points_of_the_refinement_are_named():
    found, launches = panels(refining(10001), refining(10002), refining(10003))
    assert findings.refinement(found[TCP.protocol], launches) == (
        "A refinement of 3 launches (number 10001 to 10003) added 3 points from 4.64 kB to 10 kB, inside the "
        "crossovers of the first."
    )
    assert findings.refinement(found[IPC.protocol], launches) == ""


@pytest.mark.parametrize("change", [{"outcome": "hole"}, {"placement": "nodes"}, {"experiment": "zmq_latency"}])
def test_holes_and_other_experiments_launches_do_not_count(change):
    found, launches = panels(refining(10001, **change))
    assert findings.refinement(found[TCP.protocol], launches) == ""


def test_heats_with_different_points_are_described_together():
    found, launches = panels(refining(10001, (10, 20, 40)), refining(10002, (1000, 2000)))
    assert "2 launches (number 10001 to 10002)" in findings.refinement(found[TCP.protocol], launches)
    assert "added 5 points from 10 B to 2 kB" in findings.refinement(found[TCP.protocol], launches)
