"""Does the page say what the table of recommendations says, and nothing else?"""

import re

import pyarrow as pa
import pytest
from campaigns import NOT_SHOWN, recommendation

from crossover import record
from crossover.report import tables as corridor
from crossover.report.recommended import gain, reason, section

PASSED = recommendation()
LEFT = recommendation(library="mpi4py", setting="Send", **NOT_SHOWN)
CHOSEN = recommendation(
    library="ipyparallel", setting="TaskScheduler.scheme_name", about="the scheduler", value='"pure"',
    arm="pure", default="leastload", metric="round trip", tried=5, gain=1.3, gain_low=1.2, gain_high=1.4,
    gain_from=8.0, gain_to=128.0, axis_unit="tasks", **dict.fromkeys(("x", "low", "high", "verdict")),
)  # fmt: skip


def lines(text):
    return [line for line in text.splitlines() if line.startswith("|")]


def test_what_passed_is_a_table_with_value_condition_and_gain():
    (_, _, line) = lines(section([PASSED]))
    assert line == (
        "| `copy=False` of pyzmq: the size from which on lending is faster | **15 kB [9.3 kB, 21 kB]** | "
        "PUSH/PULL over tcp, 64 MB in flight | 12.6 [8.87, 17.9] times better in send rate than `copy`, "
        "on average over 31.6 kB to 1 MB |"
    )


def test_the_opening_counts_and_names_the_largest_gain():
    opening = section([CHOSEN, PASSED, LEFT]).splitlines()[0]
    assert opening.startswith("3 settings examined, each under one condition: **2 passed** the test.")
    assert "The most is gained by `copy=False` of pyzmq under PUSH/PULL over tcp" in opening


def test_a_choice_says_what_is_chosen_and_among_how_many():
    shown = section([CHOSEN])
    assert "**`pure`**" in shown
    assert (
        "1.30 [1.20, 1.40] times better in round trip than `leastload`, on average over 8 tasks to 128 tasks" in shown
    )
    assert "(the best of 5 that were tried)" in shown


def test_a_bound_is_said_to_be_one():
    assert "**1 kB, or less**" in section([recommendation(x=1000.0, low=None, high=1000.0)])


def test_a_place_without_a_default_says_whose_it_is_and_claims_no_gain():
    alone = dict.fromkeys(("default", "tried", *(name for name in PASSED if name.startswith("gain"))))
    assert lines(section([recommendation(arm="pure", **alone)]))[-1].endswith("64 MB in flight, `pure` | – |")


def test_without_a_recommendation_the_reason_comes_with_the_numbers():
    assert reason(LEFT) == (
        f"no gain is significantly beyond it: it is {gain(LEFT)}; the smallest effect is 1.30; "
        "the place would be 15 kB [9.3 kB, 21 kB]"
    )
    silent = recommendation(**NOT_SHOWN, **dict.fromkeys(("gain", "x", "smallest_effect")))
    assert reason(silent) == "no gain is significantly beyond it"


def test_of_several_the_reason_says_which_was_the_best():
    assert "beyond it: `pure` is 1.30 [1.20, 1.40] times better" in reason(CHOSEN | NOT_SHOWN)


def test_the_reasons_are_folded_unless_they_are_all_there_is():
    assert "<details><summary>Best left as they are: 1 setting without" in section([PASSED, LEFT])
    assert "<details open><summary>Best left as they are: 1 setting without" in section([LEFT])


def test_a_reason_that_is_the_same_in_several_places_is_told_once():
    places = ("PUSH/PULL over tcp, 64 MB in flight", "PUSH/PULL over ipc, 64 MB in flight")
    silent = dict.fromkeys(("gain", "x", "smallest_effect"))
    shown = lines(section([recommendation(protocol=place, **NOT_SHOWN, **silent) for place in places]))
    assert shown[2:] == [
        "| `copy=False` of pyzmq: the size from which on lending is faster | "
        f"{'; '.join(places)} | no gain is significantly beyond it |"
    ]


def test_an_experiment_that_was_not_run_is_named_in_place_of_a_condition():
    absent = dict.fromkeys(("protocol", "placement", "gain", "x", "arm", "default"))
    assert "| `zmq_throughput` | no gain" in section([recommendation(**NOT_SHOWN | absent)])


def test_a_setting_is_explained_once():
    other = recommendation(protocol="PUSH/PULL over ipc, 64 MB in flight")
    assert section([PASSED, other]).count("the size from which on lending is faster") == 1


def test_the_lines_to_paste_are_folded_and_stay_text():
    shown = section([recommendation(snippet="if a < b:\n    c = '&'\n")])
    assert "<details><summary>To paste: copy=False of pyzmq</summary>" in shown
    assert "<pre><code>if a &lt; b:\n    c = &#x27;&amp;&#x27;\n</code></pre>" in shown


def test_without_any_row_the_section_says_so():
    assert section([]) == "No setting was examined."


@pytest.mark.parametrize("column", ["x", "low", "high", "gain", "gain_low", "gain_high", "gain_from", "gain_to"])
@pytest.mark.parametrize("row", [PASSED, LEFT], ids=["passed", "left"])
def test_every_number_of_the_table_is_on_the_page_and_follows_it(tmp_path, row, column):
    def shown(value):
        table = pa.Table.from_pylist([row | {column: value}], schema=record.RECOMMENDATIONS)
        record.write(table, tmp_path / "recommendations.parquet")
        return re.sub(r"<pre>.*?</pre>", "", section(corridor.rows(tmp_path, "recommendations")))

    assert shown(row[column]) != shown(row[column] * 1.5)


def test_the_smallest_effect_is_on_the_page_where_it_decided_and_follows_the_table():
    assert section([LEFT]) != section([LEFT | {"smallest_effect": 1.9}])


def test_the_rendered_page_begins_with_it_and_its_folds_are_closed(rendered):
    html = rendered.read_text()
    assert html.index("What to set here") < html.index("In short")
    body = html[html.index("<main") :]
    assert body.index("12.6 [8.87, 17.9] times better") < body.index("To paste: ") < body.index('id="sec-short"')
    assert body.count("<details><summary>") == body.count("</details>") == 2
