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
from crossover.report.text import findings, tables
from crossover.report.text.tables import Panel

WORSE, OPEN, EQUAL, BETTER = (0.4, 0.6), (0.7, 1.4), (0.9, 1.1), (1.8, 2.2)
LEADS = {"zmq_throughput": "throughput", "mpi_pingpong": "round trip", "task_latency": "round trip"}

TCP, IPC = (zmq(f"PUSH/PULL over {transport}, 64 MB in flight") for transport in ("tcp", "ipc"))


def test_a_higher_value_is_faster_for_rates_and_slower_for_times():
    assert "At 100 B `no-copy` is slower than `copy`, with 0.585" in findings.paragraph(panel(zmq()))
    assert "at 1 MB it is faster, with 1.94" in findings.paragraph(panel(zmq()))
    lower = findings.paragraph(panel(zmq(better="lower")))
    assert "At 100 B `no-copy` is faster than `copy`" in lower
    assert "at 1 MB it is slower" in lower


@pytest.mark.parametrize(
    ("intervals", "sentence", "words"),
    [
        ([WORSE, BETTER], "It becomes faster than `copy` above **320 B [240, 410 B]**, between", "faster above it"),
        ([BETTER, BETTER], "It is faster than `copy` at every measured point", "always faster"),
        (
            [BETTER, OPEN],
            "No crossover is shown: it is faster than `copy` at 100 B and open at 1 kB.",
            "faster or open",
        ),
        ([EQUAL, BETTER], "it is faster than `copy` at 1 kB and alike at 100 B.", "faster or alike"),
        ([OPEN, WORSE, EQUAL], "it is slower than `copy` at 1 kB, alike at 10 kB and open", "slower or alike or open"),
        ([WORSE, BETTER, WORSE], "It crosses `copy` several times", "crosses several times"),
        ([EQUAL, EQUAL], "It and `copy` are alike at every measured point.", "alike"),
        ([EQUAL, OPEN], "Open: `no-copy` and `copy` differ nowhere beyond chance and possible bias.", "open"),
    ],
)
def test_each_verdict_has_its_sentence(intervals, sentence, words):
    shown = panel(steps(*intervals))
    assert sentence in findings.paragraph(shown)
    assert findings.verdict(shown, "no-copy") == words


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
    assert (f" If there is a crossover, it lies {where}." in findings.crossing(shown, "no-copy")) == bool(where)
    [line] = findings.crossover_lines(shown)
    assert line["crossover"] == (f"none found; one could lie {where}" if where else "–")


WORDS = [
    ("s", "faster", "slower"),
    ("messages/s", "faster", "slower"),
    ("MB/s", "faster", "slower"),
    ("", "better", "worse"),
    ("times", "better", "worse"),
    ("MB", "better", "worse"),
]
SENTENCES = [
    ("always", 3, "At 100 B `no-copy` is {} than `copy`, with"),
    ("always", 3, "; at 1 kB it is {}, with"),
    ("always", 1, "At 100 B `no-copy` looks {} than `copy` (not replicated), with"),
    ("always", 3, "It is {} than `copy` at every measured point, so there is no crossover."),
    ("none", 3, "No crossover is shown: it is {} than `copy` at 100 B and open at 1 kB."),
    ("always", 3, "\nalways {}"),
    ("none", 3, "\n{} or open"),
]


@pytest.mark.parametrize("better", ["higher", "lower"])
@pytest.mark.parametrize(("unit", "ahead", "behind"), WORDS)
@pytest.mark.parametrize(("verdict", "launches", "sentence"), SENTENCES)
def test_only_times_and_rates_are_fast_or_slow(verdict, launches, sentence, unit, ahead, behind, better):
    # The ratio is below one on the whole axis.
    curve = steps(WORSE, WORSE if verdict == "always" else OPEN, unit=unit, better=better, launches=launches)
    shown = panel(curve)
    said = "\n".join(
        [
            findings.paragraph(shown),
            findings.verdict(shown, "no-copy"),
        ]
    )
    said = said.replace("open which is better", "open")
    word = behind if better == "higher" else ahead
    assert sentence.format(word) in said
    assert not [other for other in ("faster", "slower", "better", "worse") if other != word and other in said]


@pytest.mark.parametrize("better", ["higher", "lower"])
@pytest.mark.parametrize(("unit", "ahead", "behind"), WORDS)
def test_a_crossover_has_the_word_of_its_unit(unit, ahead, behind, better):
    curve = steps(WORSE, BETTER, unit=unit, better=better)
    word = ahead if better == "higher" else behind
    assert f"It becomes {word} than `copy` above **" in findings.paragraph(panel(curve))
    assert findings.verdict(panel(curve), "no-copy") == f"{word} above it"


@pytest.mark.parametrize("ratio", [30.0, 1 / 30])
def test_a_ratio_that_is_far_from_one_but_open_decides_no_sentence(ratio):
    # Slower in all cells but the last, which looks thirty times faster or slower but is open.
    noisy = run(Campaign([steps(WORSE, WORSE, (0.6, 0.8), (ratio / 1000, ratio * 1000))]))
    shown = noisy.panels("zmq_throughput")[0]
    said = findings.crossing(shown, "no-copy")
    assert "slower than `copy`" in said and "faster" not in said
    assert findings.verdict(shown, "no-copy") == "slower or open"


def test_an_open_end_does_not_decide_the_direction_of_a_crossover():
    shown = panel(steps(WORSE, BETTER, (0.01, 4.0)))
    assert findings.verdict(shown, "no-copy") == "faster above it"


def test_the_crossover_comes_from_the_data():
    assert "**2.9 kB [2.2, 3.8 kB]**" in findings.paragraph(panel(zmq(centre=2900.0)))
    assert "between the measured points 2.15 kB and 4.64 kB" in findings.paragraph(panel(zmq(centre=2900.0)))


def test_one_launch_has_no_interval_and_no_verdict():
    alone = panel(zmq(launches=1))
    said = findings.paragraph(alone)
    assert "looks slower than `copy` (not replicated)" in said
    assert "With one launch this is not replicated" in said
    assert "[" not in said
    assert findings.verdict(alone, "no-copy") == "not replicated"


def test_open_and_alike_ends_name_no_better_arm():
    said = findings.paragraph(panel(steps(OPEN, EQUAL)))
    assert "At 100 B it is open whether `no-copy` or `copy` is better, with" in said
    assert "; at 1 kB they are alike, with" in said
    assert "faster" not in said and "slower" not in said


def test_the_noise_comes_from_the_null_arm():
    quiet = panel(zmq())
    assert "(the null arm) contains 1 at 13 of 13 points (100 %)." in findings.null_arm(quiet)
    # With intervals this narrow, the null arm differs significantly at some points.
    loud = findings.null_arm(panel(zmq(half_width=0.004)))
    assert "of 13 points" in loud and "(100 %)" not in loud


def test_without_a_null_arm_the_noise_is_unknown():
    made = Campaign([zmq()]).tables()
    ratios = [row for row in made["ratios"] if not row["null"]]
    assert "No null arm was measured" in findings.paragraph(
        tables.panels(made["summary"], ratios, made["crossovers"])[0]
    )


def test_without_rivals_nothing_is_compared():
    rows = [row for row in Campaign([zmq()]).tables()["summary"] if row["arm"] == "copy"]
    assert "No arm could be compared with another: only `copy` has data" in findings.paragraph(
        tables.panels(rows, [], [])[0]
    )


@given(st.lists(st.sampled_from([WORSE, OPEN, EQUAL, BETTER]), min_size=1, max_size=8))
def test_no_sentence_contradicts_a_point_of_its_table(intervals):
    found = run(Campaign([steps(*intervals)]))
    shown = found.panels("zmq_throughput")[0]
    verdict = shown.crossover_of("no-copy")["verdict"]
    every = [findings.crossing(shown, "no-copy"), findings.parts(shown, "no-copy")]
    for said in every[1:] if verdict in ("one", "several") else every:
        assert ("faster" in said) == (BETTER in intervals) and ("slower" in said) == (WORSE in intervals)
    for word, interval in (("open", OPEN), ("alike", EQUAL)):
        assert (f"{word} at" in every[1]) == (interval in intervals)
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
    assert findings.threshold_sentences(shown) == f"Efficiency of at least 50 %: `pure` {words}."
    assert [list(line.values()) for line in findings.threshold_lines(shown)] == [
        [shown.title, "`pure`", "50 %", words, bracket]
    ]


def test_a_single_launch_is_called_not_replicated():
    shown = panel(lasting(), thresholds=[threshold("pure", 0.5, "open", launches=1)])
    assert findings.threshold_sentences(shown) == "Efficiency of at least 50 %: `pure` not replicated."


def test_levels_are_sorted_and_arms_keep_their_order_without_the_null_arm():
    rows = [threshold(arm, level, "always") for level in (0.95, 0.5) for arm in ("pure", "null", "leastload")]
    shown = panel(lasting(), thresholds=rows)
    assert [(line["arm"], line["level"]) for line in findings.threshold_lines(shown)] == [
        ("`leastload`", "50 %"),
        ("`pure`", "50 %"),
        ("`leastload`", "95 %"),
        ("`pure`", "95 %"),
    ]
    assert findings.threshold_sentences(shown).count(".") == 2


def test_a_metric_without_levels_has_no_sentence_no_line_and_no_mark():
    shown = panel(mpi())
    assert (findings.threshold_sentences(shown), findings.threshold_lines(shown)) == ("", [])
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


def test_the_table_is_below_the_figure_and_the_sentences_are_among_the_findings(tmp_path):
    campaign = Campaign([lasting()], thresholds=[threshold("pure", 0.5, "from")])
    page = Page({"task_map": "efficiency"}, campaign.write(tmp_path))
    shown = page.experiment("task_map").data
    assert shown.index("crossover-chart") < shown.index("| protocol | arm | level | reached |")
    assert page.findings("task_map").data.endswith("`pure` from **2 ms [1.8, 2.3 ms]** on.")


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


def test_a_call_that_takes_a_list_is_compared_with_the_best_call_for_each_task():
    rates = {"multiprocessing.Pool map": 900.0, "multiprocessing.Pool": 300.0, "leastload": 30.0, "null": 31.0}
    assert findings.lists(lists(rates)) == (
        "By medians, the best call that takes a list of tasks (`multiprocessing.Pool map`) is 3.0 times as fast as the "
        "best call for each task (`multiprocessing.Pool`). Called for each task, farms differ by up to 10 times."
    )
    assert findings.lists(lists(rates | {"multiprocessing.Pool map": 200.0})) == ""
    assert findings.lists(lists({"leastload": 30.0, "pure": 40.0})) == ""


def lists(rates):
    shared = {"experiment": "task_latency", "placement": "node", "protocol": "empty tasks", "metric": "round trip"}
    facts = {"axis": "tasks", "axis_unit": "tasks", "better": "higher", "unit": "tasks/s", "ceiling": False, "x": 32.0}
    rows = [shared | facts | {"arm": arm, "median": rate, "null": arm == "null"} for arm, rate in rates.items()]
    return Panel("task_latency", "round trip", "empty tasks", "node", rows, [], [])
