"""Does each outcome of a threshold have its own words, in sentences, in the table and on the chart?"""

import pytest
from campaigns import Campaign, lasting, mpi, threshold

from crossover.report.charts import figures
from crossover.report.pages.index import Page
from crossover.report.text import findings, tables


def panel(*rows, curve=None):
    made = Campaign([curve or lasting()], thresholds=list(rows)).tables()
    return tables.panels(made["summary"], made["ratios"], made["crossovers"], made["thresholds"])[0]


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
    shown = panel(threshold("pure", 0.5, verdict))
    assert findings.threshold_sentences(shown) == f"Efficiency of at least 50 %: `pure` {words}."
    assert [list(line.values()) for line in findings.threshold_lines(shown)] == [
        [shown.title, "`pure`", "50 %", words, bracket]
    ]


def test_a_single_launch_is_called_not_replicated():
    shown = panel(threshold("pure", 0.5, "open", launches=1))
    assert findings.threshold_sentences(shown) == "Efficiency of at least 50 %: `pure` not replicated."


def test_levels_are_sorted_and_arms_keep_their_order_without_the_null_arm():
    rows = [threshold(arm, level, "always") for level in (0.95, 0.5) for arm in ("pure", "null", "leastload")]
    shown = panel(*rows)
    assert [(line["arm"], line["level"]) for line in findings.threshold_lines(shown)] == [
        ("`leastload`", "50 %"),
        ("`pure`", "50 %"),
        ("`leastload`", "95 %"),
        ("`pure`", "95 %"),
    ]
    assert findings.threshold_sentences(shown).count(".") == 2


def test_a_metric_without_levels_has_no_sentence_no_line_and_no_mark():
    shown = panel(curve=mpi())
    assert (findings.threshold_sentences(shown), findings.threshold_lines(shown)) == ("", [])
    rules = [layer for layer in figures.curve(shown).to_dict()["layer"] if layer["mark"]["type"] == "rule"]
    assert rules == []


def test_the_chart_has_room_for_every_level_and_marks_it():
    chart = figures.curve(panel(threshold("pure", 0.1, "always"), threshold("pure", 0.95, "from"))).to_dict()
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
