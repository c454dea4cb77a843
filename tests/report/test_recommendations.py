"""Does the page agree with the table of recommendations?"""

import re
from dataclasses import replace

import pyarrow as pa
import pytest
from campaigns import KEPT, Campaign, mpi, recommendation, run, zmq

from crossover.records import record
from crossover.report.text import recommendations, tables

TCP, IPC = (zmq(protocol=f"PUSH/PULL over {transport}, 64 MB in flight") for transport in ("tcp", "ipc"))
PASSED, LEFT = recommendation(), recommendation(protocol=IPC.protocol, **KEPT)
EVERYWHERE = recommendation(
    library="mpi4py", setting="send, Send or pkl5", about="the call", value='"Send"', arm="Send", default="send",
    snippet="comm.Send(array, other)\n", experiment="mpi_pingpong", metric="round trip", protocol=mpi().protocol,
    **dict.fromkeys(("x", "low", "high")),
)  # fmt: skip


def section(rows, tiers=None):
    return recommendations.section(replace(run(Campaign([TCP, IPC, mpi()])), recommendations=rows), tiers)


def lines(text):
    return [line for line in text.splitlines() if line.startswith("|")]


def test_recommended_settings_are_in_a_table_with_value_gain_guarantee_and_question():
    (_, _, first, second) = lines(section([PASSED, EVERYWHERE]))
    assert first == (
        "| `copy_threshold` of pyzmq | ZeroMQ stream, tcp | **copy\\_threshold = 14700 \\[9.3, 21 kB\\]** | "
        "1.9 to 13 times better than copy | at most 1.12 times worse than the best |"
    )
    assert "**Send instead of send everywhere**" in second and "| mpi4py arrays, fresh memory |" in second
    begun = EVERYWHERE | {"x": 100.0, "low": 90.0, "high": 120.0, "axis_unit": "elements"}
    assert "**Send instead of send from 100 elements \\[90, 120 elements\\] on**" in section([begun])


def test_equal_values_of_several_questions_share_a_line_with_the_whole_range():
    other = recommendation(protocol=IPC.protocol, gain_low=0.9, guarantee=1.0, guarantee_of_values=1.0)
    (_, _, line) = lines(section([PASSED, other]))
    assert "| 0.90 to 13 times as good as copy | at most 1.12 times worse" in line
    assert "| ZeroMQ stream: tcp / ipc |" in line


def test_a_bound_among_the_values_of_a_setting_is_not_the_one_against_every_candidate():
    assert "| at most 1.12 times worse than the best of its values, at most 640 times worse than the best arm |" in (
        section([PASSED | {"guarantee": 640.0}])
    )


def test_a_boundary_that_is_only_known_between_two_places_says_so():
    assert "**copy\\_threshold = 14700, between 100 and 340 kB**" in section(
        [PASSED | {"x": None, "low": 1e5, "high": 3.4e5}]
    )
    begun = EVERYWHERE | {"low": 90.0, "high": 120.0, "axis_unit": "elements"}
    assert "**Send instead of send from between 90 and 120 elements on**" in section([begun])


def test_the_opening_counts_settings():
    opening = section([PASSED, EVERYWHERE, LEFT]).splitlines()[0]
    assert opening == "3 settings examined, each for one question: **2** should not keep the default."


def test_the_lines_to_paste_are_folded_and_stay_text_once_for_equal_lines():
    text = "if a < b:\n    c = '&'\n"
    shown = section([recommendation(snippet=text), recommendation(snippet=text, protocol=IPC.protocol)])
    assert "<details><summary>Lines to paste: copy_threshold of pyzmq</summary>" in shown
    assert "The size from which on lending is faster." in shown
    assert shown.count("<pre><code>if a &lt; b:\n    c = &#x27;&amp;&#x27;\n</code></pre>") == 1


def test_the_reason_has_the_choices_along_the_axis_and_a_setting_is_explained_once():
    shown = lines(section([LEFT, recommendation(**KEPT | {"reason": "other"})]))
    assert shown[2] == (
        "| `copy_threshold` of pyzmq: the size from which on lending is faster | ZeroMQ stream, ipc | "
        f"{KEPT['reason']}; `copy` at 100 B to 10 kB, `no-copy` at 31.6 kB to 1 MB; more launches can decide it |"
    )
    assert shown[3].startswith("| `copy_threshold` of pyzmq | ZeroMQ stream, tcp | other; ")
    stays = LEFT | {"reason": "keep `copy`", "guarantee": 1.05, "guarantee_of_values": 1.05}
    assert recommendations.why_none(stays) == "keep `copy`: at most 1.05 times worse than the best"


def test_a_reason_names_the_tier_that_would_decide():
    reason = "not measured: `pkl5.send` is not among the arms of this run's configuration"
    missing = LEFT | {"experiment": "mpi_pingpong", "reason": reason, "launches": None, "points": None}
    tiers = {"mpi_pingpong": {"standard": {"arms": ["pkl5.send"]}, "paper": {"arms": ["persistent"]}}}
    assert "; the `standard` tier measures it |" in section([missing], tiers)
    assert "tier" not in section([missing])


def test_an_experiment_that_was_not_run_is_named_instead_of_a_question():
    absent = LEFT | {"experiment": "async_cost"} | dict.fromkeys(("protocol", "placement", "metric", "points"))
    assert "| async_cost | open: no arm" in section([absent])


def test_the_reasons_are_folded_unless_nothing_is_recommended():
    assert "<details><summary>Leave at the default: 1 setting without" in section([PASSED, LEFT])
    assert "<details open><summary>Leave at the default: 1 setting without" in section([LEFT])


def test_without_any_row_the_section_says_so():
    assert section([]) == "No setting was examined."


@pytest.mark.parametrize("column", ["low", "high", "gain_low", "gain_high", "guarantee"])
def test_every_number_in_the_table_changes_the_page(tmp_path, column):
    def shown(value):
        table = pa.Table.from_pylist([PASSED | {column: value}], schema=record.RECOMMENDATIONS)
        record.write(table, tmp_path / "recommendations.parquet")
        return re.sub(r"<pre>.*?</pre>", "", section(tables.rows(tmp_path, "recommendations")))

    assert shown(PASSED[column]) != shown(PASSED[column] * 1.5)


def test_the_rendered_page_has_recommendations_after_the_map_and_their_folds_are_closed(rendered):
    html = rendered.read_text()
    assert html.index("What to choose where") < html.index("In short") < html.index("What to set here")
    body = html[html.index("<main") :]
    paste = body.index("Lines to paste: ")
    assert body.index("1.9 to 13 times better than") < paste < body.index('id="sec-crossovers"')
    assert body.count("<details><summary>") == body.count("</details>") > 9
