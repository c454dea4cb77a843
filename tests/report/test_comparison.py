"""Does the page on two runs agree with the tables, and change with them?"""

import pytest
from comparisons import NULL, cell, cells, comparison, curve, difference, lonely, same, write

from crossover.report.pages import changes as compared
from crossover.report.pages import renderer
from crossover.report.pages.changes import ComparisonPage


def of(tmp_path, **changes):
    """The tables of the synthetic comparison that the report reads; `tables` replaces some of them."""
    return compared.load(write(comparison() | changes, tmp_path))


def test_a_changed_curve_has_its_numbers_and_the_point_of_its_largest_change(tmp_path):
    found = of(tmp_path)
    assert compared.change_sentence(found, found.changed[0]) == (
        "`no-copy` against `copy` is **worse** in throughput, PUSH/PULL over tcp; over 3 points its ratio is typically "
        "0.880 [0.840, 0.920] times the earlier one (1.25 before, 1.10 after); worse at 2 of its points, most at 1 kB: "
        "0.800 [0.760, 0.840] times."
    )


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("arm", "default"), ("reference", "recv-into"), ("metric", "bandwidth"), ("protocol", "ipc"),
        ("placement", "process"), ("verdict", "better"), ("before", 1.3), ("after", 1.0), ("change", 0.7), ("low", 0.6),
        ("high", 0.95), ("equivalent", True),
    ],
)  # fmt: skip
def test_every_number_and_name_in_a_sentence_comes_from_the_table(tmp_path, column, value):
    before = compared.change_sentence(of(tmp_path), curve())
    changed = curve(**{column: value})
    along = [cell(1000.0, 0.8, **{name: changed[name] for name in ("arm", "metric", "protocol", "placement")})]
    assert compared.change_sentence(of(tmp_path, changes=along), changed) != before


def test_the_points_of_a_curve_are_counted_and_the_largest_change_is_named(tmp_path):
    moved = of(tmp_path, changes=[curve(), cell(100.0, 0.9), cell(1000.0, 1.3, verdict="better"), cell(10_000.0, 0.7)])
    said = compared.change_sentence(moved, curve())
    assert "over 3 points" in said
    assert "better at 1 and worse at 2 of its points" in said or "better at 1 of its points and worse at 2" in said
    assert "most at 10 kB: 0.700" in said


def test_a_significant_change_within_the_bounds_is_described_as_both(tmp_path):
    small = curve(change=0.97, low=0.96, high=0.98, equivalent=True)
    said = compared.change_sentence(of(tmp_path, changes=[small, cell(100.0, 0.97, verdict="same")]), small)
    assert "no single point shows this by itself; as a whole it is within ±10 %." in said


def test_the_summary_contains_verdicts_changes_chance_null_arms_and_holes(tmp_path):
    said = compared.summary(of(tmp_path))
    assert "Of 2 curves of an arm against its reference, **1 worse** and **1 the same within ±10 %**." in said
    assert "\n- `no-copy` against `copy` is **worse**" in said
    assert "about 0.10 of 2 curves would differ by chance; 1 of the 1 that differ still does after" in said
    assert "Of 1 null arm, whose ratio cannot change, 0 appear changed; the largest of their changes is 0.7 %." in said
    assert said.endswith("1 curve and 1 point could not be compared: see @sec-unpaired.")


def test_every_part_of_the_summary_changes_with_its_table(tmp_path):
    told = compared.summary(of(tmp_path)).split("\n\n")
    other = [
        {"changes": [curve(verdict="better"), same(), same(**NULL), *cells()]},
        {"changes": [curve(q=0.2), same(), same(**NULL), *cells()]},
        {"changes": [curve(), same(), same(verdict="worse", **NULL), *cells()]},
        {"unpaired": [lonely(reason="x")]},
    ]
    parts = [compared.summary(of(tmp_path, **tables)).split("\n\n") for tables in other]
    assert [[new != old for new, old in zip(part, told, strict=True)] for part in parts] == [
        [True, True, False, False],
        [False, False, True, False],
        [False, False, True, False],
        [False, False, False, True],
    ]


def test_the_summary_says_if_nothing_changed_and_no_null_arm_was_measured(tmp_path):
    said = compared.summary(of(tmp_path, changes=[same()], unpaired=[]))
    assert "Of 1 curve of an arm against its reference, **1 the same within ±10 %**." in said
    assert "about 0.050 of 1 curve would differ by chance. No null arm is in both runs." in said


def test_a_single_launch_is_called_not_replicated(tmp_path):
    alone = curve(verdict="open", launches_after=1, low=None, high=None, p=1.0)
    found = of(tmp_path, changes=[alone], unpaired=[])
    (line,) = compared.curve_lines(found)
    assert (line["after ÷ before"], line["verdict"]) == ("0.880", "not replicated")
    assert "against its reference, **1 open**." in compared.summary(found)


def test_a_curve_without_a_mean_is_described_by_its_points(tmp_path):
    gaps = curve(before=None, after=None, change=None, low=None, high=None)
    found = of(tmp_path, changes=[gaps, *cells()])
    assert compared.change_sentence(found, gaps).startswith(
        "`no-copy` against `copy` is **worse** in throughput, PUSH/PULL over tcp; worse at 2 of its points"
    )
    assert compared.drawn(found) == []


def test_the_table_begins_with_the_curves_that_changed(tmp_path):
    found = of(tmp_path, changes=[same(), same(**NULL), same(arm="other", p=0.5), curve(), *cells()])
    assert [list(line.values())[2:] for line in compared.curve_lines(found)] == [
        ["`no-copy` / `copy`", "1.25", "1.10", "0.880 [0.840, 0.920]", "worse", "0, 2, 0 of 3"],
        ["`other` / `copy`", "1.10", "1.11", "1.01 [0.980, 1.04]", "same", "0, 0, 0 of 0"],
        ["`default` / `copy`", "1.10", "1.11", "1.01 [0.980, 1.04]", "same", "0, 0, 3 of 3"],
    ]
    assert "`default`" not in compared.in_a_terminal(found) and "`null`" not in compared.in_a_terminal(found)


def test_parts_of_one_run_alone_are_named_with_the_reason(tmp_path):
    assert compared.unpaired(of(tmp_path)).splitlines() == [
        "- `zmq_throughput`, 1 curve of `default`, in the run before: after did not measure this arm.",
        "- `zmq_throughput`, 1 point of `no-copy`, in the run before: the other run did not measure this point.",
    ]
    assert compared.unpaired(of(tmp_path, unpaired=[])) == "Nothing: both runs measured the same curves and points."


def test_differences_are_named_and_days_are_no_reason_for_a_change(tmp_path):
    found = of(tmp_path)
    assert compared.differences(found) == "The runs differ in library pyzmq (26.0 before, 27.3 after)."
    assert compared.run_folder(found, "after") == "`results.after` (2026-11-21)"
    assert compared.in_a_terminal(found).endswith("The runs differ in library pyzmq (26.0 before, 27.3 after).")
    only = [difference("machine", "memory_bytes", "1", "2"), difference("code", "commit", "", "ab")]
    said = compared.differences(of(tmp_path, differences=only))
    assert said == "The runs differ in memory bytes (1 before, 2 after) and crossover's commit (– before, ab after)."
    alike = of(tmp_path, differences=[difference("run", "folder", "results.before", "results.after")])
    assert compared.differences(alike) == "The runs differ in no recorded fact."
    assert compared.run_folder(alike, "before") == "`results.before`"


def test_the_chart_has_a_line_for_each_curve_and_the_bounds(tmp_path):
    told = compared.chart(compared.drawn(of(tmp_path))).to_dict()
    assert [(point["curve"], point["change"]) for point in told["data"]["values"]] == [
        ("zmq_throughput: no-copy\nthroughput, PUSH/PULL over tcp", 0.88),
        ("zmq_throughput: default\nthroughput, PUSH/PULL over tcp", 1.01),
    ]
    assert told["layer"][0]["data"]["values"] == [{"low": 1 / 1.1, "high": 1.1}]


def test_of_many_curves_the_chart_has_those_that_changed(tmp_path):
    many = [same(arm=f"arm {number}", p=0.5 - number / 1000) for number in range(compared.MOST_DRAWN + 5)]
    folder = write(comparison() | {"changes": [*many, curve(), *cells()]}, tmp_path)
    rows = compared.drawn(compared.load(folder))
    assert len(rows) == compared.MOST_DRAWN and rows[0]["arm"] == "no-copy"
    assert "arm 0" not in {row["arm"] for row in rows}
    compared.draw(folder)
    assert "6 more curves of the table" in ComparisonPage(folder).chart().data


def test_the_whole_page_is_rendered(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    folder = write(comparison(), tmp_path / "comparison")
    compared.draw(folder)
    assert len(list((folder / "figures").glob("*.vl.json"))) == 1
    page = ComparisonPage(folder)
    renderer.render(folder, folder / "index.html", source="changes.qmd")
    html = (folder / "index.html").read_text()
    assert html.count('class="crossover-chart"') == 1
    for told in (
        "results.before",
        "library pyzmq (26.0 before, 27.3 after)",
        "±10 %",
        "after did not measure this arm",
    ):
        assert told in html
    assert "`" not in page.before() + page.after()
    assert "worse" in page.curves().data
