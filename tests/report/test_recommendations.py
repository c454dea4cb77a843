"""Does the page agree with the table of recommendations?"""

import json
import re

import disagreeing
import pyarrow as pa
import pytest
from campaigns import NO_GAIN, effect, recommendation

from crossover.records import record
from crossover.report.base import tables
from crossover.report.sections.recommendations import gain, reason, section

PASSED = recommendation()
LEFT = recommendation(library="mpi4py", setting="Send", **NO_GAIN)
CHOSEN = recommendation(
    library="ipyparallel", setting="TaskScheduler.scheme_name", about="the scheduler", value='"pure"',
    arm="pure", default="leastload", metric="round trip", aims='["rate of empty tasks"]', effects=None,
    tried=5, gain=1.3, gain_low=1.2, gain_high=1.4, gain_from=8.0, gain_to=128.0, axis_unit="tasks",
    points='{"better": [8, 128], "alike": [], "open": [32], "worse": []}',
    **dict.fromkeys(("x", "low", "high", "verdict")),
)  # fmt: skip


def lines(text):
    return [line for line in text.splitlines() if line.startswith("|")]


def test_recommended_settings_are_in_a_table_with_value_condition_and_gain():
    (_, _, line) = lines(section([PASSED]))
    assert line == (
        "| `copy_threshold` of pyzmq | `no-copy` from **15 kB [9.3, 21 kB]** on | 12.6 [8.87, 17.9] times | "
        "throughput, PUSH/PULL over tcp |"
    )


def test_the_conditions_and_effects_in_full_are_folded():
    folded = section([PASSED]).partition("<details>")[2]
    assert "Why, and lines to paste: copy_threshold of pyzmq</summary>" in folded
    assert "The size from which on lending is faster." in folded
    assert (
        "For throughput (PUSH/PULL over tcp, 64 MB in flight): `no-copy` from **15 kB [9.3, 21 kB]** on; better at "
        "31.6 kB to 1 MB; worse at 100 B to 10 kB; 12.6 [8.87, 17.9] times better than `copy` in throughput, on "
        "average over 31.6 kB to 1 MB. Other effects: 9.50 [8.10, 11.2] times better in send rate."
    ) in folded


def test_a_reason_names_the_tier_that_would_decide():
    reason = "not measured: `pkl5.send` is not among the arms of this run's configuration"
    missing = recommendation(experiment="mpi_pingpong", **NO_GAIN | {"reason": reason, "launches": None, "gain": None})
    tiers = {"mpi_pingpong": {"standard": {"arms": ["pkl5.send"]}, "paper": {"arms": ["persistent"]}}}
    assert "; the `standard` tier measures it |" in section([missing], tiers)
    assert "tier" not in section([missing])
    assert "more launches can decide it, as in a higher tier |" in section([LEFT])


def test_the_opening_counts_settings_and_names_the_largest_gain():
    opening = section([CHOSEN, PASSED, LEFT]).splitlines()[0]
    assert opening.startswith("3 settings examined, each for one aim and condition: **2 passed** the test.")
    assert "The largest gain is from `copy_threshold` of pyzmq, for throughput, PUSH/PULL over tcp" in opening


def test_a_choice_has_its_value_and_the_number_of_candidates():
    shown = section([CHOSEN])
    assert "**`pure`**" in shown
    assert (
        "1.30 [1.20, 1.40] times better than `leastload` in round trip, on average over 8 tasks to 128 tasks" in shown
    )
    assert "(the best of 5 candidates)" in shown


def test_a_bound_is_a_measured_point_without_an_interval():
    bound = {"x": 1000.0, "low": None, "high": 1000.0}
    points = '{"better": [1e3, 1e4, 1e6], "open": [1e2, 1e5], "worse": []}'
    assert "`no-copy` from **1 kB** on; better at 1 kB to 10 kB and 1 MB; open at 100 B and 100 kB; 12.6" in section(
        [recommendation(points=points, **bound)]
    )
    everywhere = section([recommendation(points='{"better": [1e3, 1e4], "open": [], "worse": []}', **bound)])
    assert "| **`no-copy`** at every measured point |" in everywhere
    alone = recommendation(default=None, gain=None, points=None, effects=None, **bound)
    assert "**1 kB** (upper bound)" in section([alone])


def test_a_difference_that_equal_arms_also_have_is_open():
    shown = section([recommendation(effects=json.dumps([effect(says="open", factor=1.33, low=1.04, high=1.69)]))])
    assert "open in send rate (1.33 [1.04, 1.69] times as good)" in shown


def test_a_point_without_a_default_names_its_arm_and_has_no_gain():
    gains = [name for name in PASSED if name.startswith("gain")]
    alone = dict.fromkeys(("default", "points", "tried", "effects", *gains))
    assert lines(section([recommendation(arm="pure", **alone)]))[-1].endswith(
        "| **15 kB [9.3, 21 kB]** | – | throughput, PUSH/PULL over tcp, `pure` |"
    )


def test_without_a_recommendation_the_reason_comes_with_the_numbers():
    assert reason(LEFT) == (
        f"{NO_GAIN['reason']}: `no-copy` is {gain(LEFT)}; the possible bias is 30 %; "
        "the crossover would be 15 kB [9.3, 21 kB]; better at 31.6 kB to 1 MB; worse at 100 B to 10 kB"
    )
    silent = recommendation(**NO_GAIN, **dict.fromkeys(("gain", "x", "points", "smallest_effect")))
    assert reason(silent) == NO_GAIN["reason"]


def test_the_reason_names_the_best_of_several():
    assert "possible bias: `pure` is 1.30 [1.20, 1.40] times better" in reason(CHOSEN | NO_GAIN)


def test_the_reasons_are_folded_unless_nothing_is_recommended():
    assert "<details><summary>Leave at the default: 1 setting without" in section([PASSED, LEFT])
    assert "<details open><summary>Leave at the default: 1 setting without" in section([LEFT])


def test_equal_reasons_under_several_conditions_share_a_line():
    places = ("PUSH/PULL over tcp, 64 MB in flight", "PUSH/PULL over ipc, 64 MB in flight")
    silent = dict.fromkeys(("gain", "x", "points", "smallest_effect"))
    shown = lines(section([recommendation(protocol=place, **NO_GAIN, **silent) for place in places]))
    assert shown[2:] == [
        "| `copy_threshold` of pyzmq: the size from which on lending is faster | "
        f"throughput ({'; '.join(places)}) | {NO_GAIN['reason']}; "
        "more launches can decide it, as in a higher tier |"
    ]


def test_an_experiment_that_was_not_run_is_named_instead_of_a_condition():
    absent = dict.fromkeys(("protocol", "placement", "gain", "x", "points", "arm", "default"))
    assert "| throughput (`zmq_throughput`) | open: no gain" in section([recommendation(**NO_GAIN | absent)])


def test_the_other_effects_follow_the_gain_with_other_aims_first():
    effects = [
        effect(),
        effect(aim="throughput", over="default", says="open", **dict.fromkeys(("factor", "low", "high"))),
        effect(metric="peak memory", says="worse", factor=0.8, low=0.5, high=0.9),
        effect(metric="round trip, median", experiment="zmq_latency", aim="round trip", says="open")
        | {"factor": 1.01, "low": 0.9, "high": 1.1, "from": 1e4},
    ]
    shown = section([recommendation(effects=json.dumps(effects))]).partition("Other effects: ")[2].partition(".\n")[0]
    assert shown.split("; ") == [
        "the same as `default` at every measured point",
        "open in round trip, median of `zmq_latency` (1.01 [0.900, 1.10] times as good), on average over 10 kB to 1 MB",
        "9.50 [8.10, 11.2] times better in send rate",
        "1.25 [1.11, 2.00] times worse in peak memory",
    ]


def test_conflicting_aims_are_named_with_their_values_and_costs():
    cost = effect(aim="throughput", metric="throughput", says="worse", factor=0.8, low=0.5, high=0.9)
    other = recommendation(
        aims='["round trip"]', protocol="REQ/REP over tcp", x=5e3, low=4e3, high=6e3, effects=json.dumps([cost])
    )
    shown = section([PASSED, other])
    assert (
        "The aims conflict for `copy_threshold` of pyzmq: `no-copy` from **15 kB [9.3, 21 kB]** on for throughput "
        "(PUSH/PULL over tcp, 64 MB in flight) and `no-copy` from **5 kB [4, 6 kB]** on for round trip (REQ/REP "
        "over tcp)."
    ) in shown
    assert "tcp). `no-copy` from **5 kB [4, 6 kB]** on is 1.25 [1.11, 2.00] times worse in throughput" in shown
    costly = section([recommendation(effects=other["effects"], aims='["round trip"]')])
    assert "The aims conflict" in costly
    elsewhere = section([PASSED, recommendation(condition="node, ipc", aims='["round trip"]')])
    agreed = section([recommendation(aims='["throughput", "round trip"]'), CHOSEN])
    assert "conflict" not in elsewhere + agreed
    assert "| throughput and round trip, PUSH" in agreed


def test_a_run_with_a_conflict_of_send_rate_and_throughput_is_described_correctly(tmp_path):
    shown = section(tables.rows(disagreeing.write(tmp_path), "recommendations"))
    table, rest = shown.split("Leave at the default")
    cells = [line.split(" | ") for line in lines(table)[2:]]
    assert cells and not [line for line in cells if "send rate" in line[3]]
    assert not re.search(r"The largest gain is from [^.]*send rate", shown)
    assert re.search("Other effects: .*times better in send rate", table)
    assert "| throughput and round trip, PUSH/PULL over tcp" in table
    assert "The aims conflict for `copy_threshold` of pyzmq" in table
    assert re.search(r"throughput \(PUSH/PULL over inproc[^|]*\|[^|]*worse than `copy` at every measured point", rest)


def test_a_setting_is_explained_once():
    other = recommendation(protocol="PUSH/PULL over ipc, 64 MB in flight")
    assert section([PASSED, other]).count("he size from which on lending is faster") == 1


def test_the_lines_to_paste_are_folded_and_stay_text():
    shown = section([recommendation(snippet="if a < b:\n    c = '&'\n")])
    assert "<details><summary>Why, and lines to paste: copy_threshold of pyzmq</summary>" in shown
    assert "<pre><code>if a &lt; b:\n    c = &#x27;&amp;&#x27;\n</code></pre>" in shown


def test_without_any_row_the_section_says_so():
    assert section([]) == "No setting was examined."


@pytest.mark.parametrize("column", ["x", "low", "high", "gain", "gain_low", "gain_high", "gain_from", "gain_to"])
@pytest.mark.parametrize("row", [PASSED, LEFT], ids=["passed", "left"])
def test_every_number_in_the_table_changes_the_page(tmp_path, row, column):
    def shown(value):
        table = pa.Table.from_pylist([row | {column: value}], schema=record.RECOMMENDATIONS)
        record.write(table, tmp_path / "recommendations.parquet")
        return re.sub(r"<pre>.*?</pre>", "", section(tables.rows(tmp_path, "recommendations")))

    assert shown(row[column]) != shown(row[column] * 1.5)


def test_the_smallest_effect_changes_the_page_if_it_decided():
    assert section([LEFT]) != section([LEFT | {"smallest_effect": 1.9}])


@pytest.mark.parametrize("name", ["factor", "low", "high"])
def test_every_number_of_an_effect_changes_the_page(name):
    moved = effect()
    moved[name] *= 1.5
    assert section([PASSED]) != section([recommendation(effects=json.dumps([moved]))])


def test_the_rendered_page_has_recommendations_after_the_map_and_their_folds_are_closed(rendered):
    html = rendered.read_text()
    assert html.index("What to choose where") < html.index("In short") < html.index("What to set here")
    body = html[html.index("<main") :]
    paste = body.index("lines to paste: ")
    assert body.index("12.6 [8.87, 17.9] times<") < paste < body.index('id="sec-crossovers"')
    assert body.count("<details><summary>") == body.count("</details>") > 9
