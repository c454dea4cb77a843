"""Does the page on two runs agree with the tables, and change with them?"""

import json

import pytest
from comparisons import NULL, cell, comparison, curve, facts, lonely, same, write

from crossover.report.pages import changes
from crossover.report.pages.changes import ComparisonPage
from crossover.report.render import renderer
from crossover.report.runs import comparison as words
from crossover.report.runs import software


def of(tmp_path, **changes):
    """The tables of the synthetic comparison that the report reads; `tables` replaces some of them."""
    return words.load(write(comparison() | changes, tmp_path))


def test_a_changed_curve_has_its_numbers_and_the_point_of_its_largest_change(tmp_path):
    found = of(tmp_path)
    assert words.sentence(found, found.changed[0]) == (
        "`no-copy` against `copy` is **worse** in throughput, PUSH/PULL over tcp; over 3 points its ratio is typically "
        "0.880 [0.840, 0.920] times the earlier one (1.25 before, 1.10 after); worse at 2 of its points, most at 1 kB: "
        "0.800 [0.760, 0.840] times."
    )


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("arm", "default"), ("reference", "recv-into"), ("metric", "bandwidth"), ("protocol", "ipc"),
        ("placement", "process"), ("verdict", "better"), ("before", 1.3), ("after", 1.0), ("change", 0.7), ("low", 0.6),
        ("high", 0.95), ("cells", 2), ("cells_worse", 1), ("cells_better", 1), ("equivalent", True),
    ],
)  # fmt: skip
def test_every_number_and_name_in_a_sentence_comes_from_the_table(tmp_path, column, value):
    before = words.sentence(of(tmp_path), curve())
    changed = curve(**{column: value})
    along = [cell(1000.0, 0.8, **{name: changed[name] for name in ("arm", "metric", "protocol", "placement")})]
    assert words.sentence(of(tmp_path, changes=along), changed) != before


def test_the_point_of_the_largest_change_comes_from_the_cells(tmp_path):
    moved = of(tmp_path, changes=[cell(100.0, 0.9), cell(10_000.0, 0.7)])
    assert "most at 10 kB: 0.700" in words.sentence(moved, curve())


def test_a_significant_change_within_the_bounds_is_described_as_both(tmp_path):
    small = curve(change=0.97, low=0.96, high=0.98, equivalent=True, cells_worse=0)
    assert "no single point shows this by itself; as a whole it is within ±10 %." in words.sentence(of(tmp_path), small)


def test_the_summary_contains_verdicts_changes_chance_null_arms_and_holes(tmp_path):
    said = words.summary(of(tmp_path))
    assert "Of 2 curves of an arm against its reference, **1 worse** and **1 the same within ±10 %**." in said
    assert "\n- `no-copy` against `copy` is **worse**" in said
    assert "about 0.10 of 2 curves would differ by chance; 1 of the 1 that differ still does after" in said
    assert "Of 1 null arm, whose ratio cannot change, 0 appear changed; the largest of their changes is 0.7 %." in said
    assert said.endswith("1 curve and 1 point could not be compared: see @sec-unpaired.")


def test_every_part_of_the_summary_changes_with_its_table(tmp_path):
    told = words.summary(of(tmp_path)).split("\n\n")
    other = [
        {"curve_changes": [curve(verdict="better"), same(), same(**NULL)]},
        {"curve_changes": [curve(q=0.2), same(), same(**NULL)]},
        {"curve_changes": [curve(), same(), same(verdict="worse", **NULL)]},
        {"unpaired": [lonely(reason="x")]},
    ]
    parts = [words.summary(of(tmp_path, **tables)).split("\n\n") for tables in other]
    assert [[new != old for new, old in zip(part, told, strict=True)] for part in parts] == [
        [True, True, False, False],
        [False, False, True, False],
        [False, False, True, False],
        [False, False, False, True],
    ]


def test_the_summary_says_if_nothing_changed_and_no_null_arm_was_measured(tmp_path):
    said = words.summary(of(tmp_path, curve_changes=[same()], unpaired=[]))
    assert "Of 1 curve of an arm against its reference, **1 the same within ±10 %**." in said
    assert "about 0.050 of 1 curve would differ by chance. No null arm is in both runs." in said


def test_a_single_launch_is_called_not_replicated(tmp_path):
    alone = curve(verdict="open", launches_after=1, low=None, high=None, p=1.0)
    found = of(tmp_path, curve_changes=[alone], unpaired=[])
    (line,) = words.lines(found, "zmq_throughput")
    assert (line["after ÷ before"], line["verdict"]) == ("0.880", "not replicated")
    assert "against its reference, **1 open**." in words.summary(found)


def test_a_curve_without_a_mean_is_described_by_its_points(tmp_path):
    gaps = curve(before=None, after=None, change=None, low=None, high=None)
    found = of(tmp_path, curve_changes=[gaps])
    assert words.sentence(found, gaps).startswith(
        "`no-copy` against `copy` is **worse** in throughput, PUSH/PULL over tcp; worse at 2 of its points"
    )
    assert changes.overviews(found) == {}


def test_an_absolute_value_is_the_same_or_open(tmp_path):
    (line,) = words.absolute_lines(of(tmp_path))
    assert list(line.values())[2:] == [
        "`no-copy`", "1,200,000 messages/s", "1,100,000 messages/s", "0.917 [0.840, 0.920]", "the same within ±10 %",
    ]  # fmt: skip


def test_parts_of_one_run_alone_are_named_with_the_reason(tmp_path):
    assert words.unpaired(of(tmp_path)).splitlines() == [
        "- `zmq_throughput`, 1 curve of `default`, in the run before: after did not measure this arm.",
        "- `zmq_throughput`, 1 point of `no-copy`, in the run before: the other run did not measure this point.",
    ]
    assert words.unpaired(of(tmp_path, unpaired=[])) == "Nothing: both runs measured the same curves and points."


def test_differences_between_the_runs_are_in_bold(tmp_path):
    runs = comparison()["runs"]
    assert software.differences(runs, "before", "after") == "library pyzmq (26.0 before, 27.3 after)"
    table = [list(line.values()) for line in software.lines(runs, "before", "after")]
    assert ["library pyzmq", "**26.0**", "**27.3**"] in table and ["host", "node-a", "node-a"] in table
    # Days are no reason for a change, and equal settings would be a long list.
    assert not any(line[0].startswith("setting") for line in table)
    alike = [*facts("before", "26.0"), *facts("after", "26.0", day="2026-11-21")]
    assert software.differences(alike, "before", "after") == "no recorded fact"


def test_a_fact_that_only_one_run_has_is_a_difference():
    runs = [row for row in comparison()["runs"] if (row["run"], row["name"]) != ("before", "pyzmq")]
    assert software.differences(runs, "before", "after") == "library pyzmq (– before, 27.3 after)"


def test_the_chart_of_a_metric_has_a_line_for_each_curve_and_the_bounds(tmp_path):
    chart = changes.overview(changes.overviews(of(tmp_path))["zmq-throughput-throughput"])
    told = chart.to_dict()
    assert [(point["curve"], point["change"]) for point in told["data"]["values"]] == [
        ("PUSH/PULL over tcp: no-copy", 0.88),
        ("PUSH/PULL over tcp: default", 1.01),
    ]
    assert told["layer"][0]["data"]["values"] == [{"low": 1 / 1.1, "high": 1.1}]


def test_the_whole_page_is_rendered(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    folder = write(comparison(), tmp_path / "comparison")
    changes.draw(folder)
    assert len(list((folder / "figures").glob("*.vl.json"))) == 2
    json.loads(next((folder / "figures").glob("*-along.vl.json")).read_text())
    page = ComparisonPage(folder)
    renderer.render(folder, folder / "index.html", source="changes.qmd")
    html = (folder / "index.html").read_text()
    assert html.count('class="crossover-chart"') == 2
    for told in (
        "results.before",
        "library pyzmq (26.0 before, 27.3 after)",
        "±10 %",
        "after did not measure this arm",
    ):
        assert told in html
    assert "worse" in page.experiments().data
