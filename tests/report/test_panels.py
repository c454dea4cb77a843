"""Are stored tables read correctly as panels?"""

import pyarrow as pa
import pytest
from campaigns import Campaign, mpi, zmq
from hypothesis import given
from hypothesis import strategies as st

from crossover.records import record
from crossover.report.text import tables


def test_a_run_has_one_panel_per_metric_and_protocol(results):
    panels = tables.load(results).panels("zmq_throughput", lead="send rate")
    assert len(panels) == 6
    assert [panel.metric for panel in panels[:2]] == ["send rate", "send rate"]
    assert len({panel.name for panel in panels}) == 6


def test_the_reference_is_the_first_arm_and_the_null_arm_the_last(results):
    panel = tables.load(results).panels("mpi_pingpong")[0]
    assert panel.arms == ["send", "Send", "null"]
    assert (panel.reference, panel.rivals, panel.null) == ("send", ["Send"], "null")


def test_a_panel_is_sorted_by_its_axis(results):
    for panel in tables.load(results).panels("zmq_throughput"):
        places = [row["x"] for row in panel.ratios_of("no-copy")]
        assert places == sorted(places)


def test_a_number_that_is_not_finite_is_none(tmp_path):
    row = Campaign([zmq()]).tables()["ratios"][0] | {"low": float("nan"), "high": float("inf")}
    record.write(pa.Table.from_pylist([row], schema=record.RATIOS), tmp_path / "ratios.parquet")
    read = tables.rows(tmp_path, "ratios")[0]
    assert (read["low"], read["high"]) == (None, None)
    assert read["ratio"] == pytest.approx(row["ratio"])


def test_holes_are_in_the_order_of_their_launches(results):
    loaded = tables.load(results)
    assert [row["launch"] for row in loaded.holes()] == [1, 2, 3]
    assert loaded.holes("mpi_pingpong") == []
    assert loaded.experiments == ["mpi_pingpong", "task_latency", "zmq_throughput"]


def test_a_missing_table_is_named(tmp_path):
    with pytest.raises(record.RecordError, match=r"launches\.parquet"):
        tables.load(tmp_path)


def test_an_unusual_placement_is_part_of_the_title(tmp_path):
    rows = [row | {"placement": "nodes"} for row in Campaign([mpi()]).tables()["summary"]]
    assert tables.panels(rows, [], [])[0].title == "float64 array, thread level multiple (nodes)"


@given(st.text(max_size=40))
def test_a_slug_is_a_safe_name_and_its_own_slug(text):
    slug = tables.slug(text)
    assert set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert tables.slug(slug) == slug


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("a\n---\nbibliography: x", "a --- bibliography: x"),
        ("`<b>`{=html} and {  =html}", "`<b>`{ =html} and { =html}"),
        (r'["a\n---\nb", "c\u2028d"]', '["a --- b", "c d"]'),
        (r'["C:\\new"]', r'["C:\\new"]'),
        ("a\x9b31mb\u202ec", "a 31mb c"),
        (r'["a\u009bb", "c\u202ed"]', '["a b", "c d"]'),
    ],
)
def test_no_text_of_a_table_begins_a_block_or_marks_raw_html(hostile, shown):
    [row] = tables.harmless(pa.Table.from_pylist([{"reason": hostile, "snippet": hostile, "x": float("inf")}]))
    assert row == {"reason": shown, "snippet": hostile, "x": None}
