"""Does the page on many runs agree with the tables, and change with them?"""

import pytest
from comparisons import facts, history, write

from crossover.report.pages import history as charts
from crossover.report.pages.history import HistoryPage
from crossover.report.render import renderer
from crossover.report.runs import history as words


def of(tmp_path, tables=None):
    return words.load(write(tables or history(), tmp_path))


def altered(number, arm="no-copy", **changes):
    """The history with changes in the row of one run."""
    tables = history()
    tables["history"] = [
        row | (changes if (row["number"], row["arm"]) == (number, arm) else {}) for row in tables["history"]
    ]
    return tables


def test_a_change_has_its_run_its_levels_and_the_other_differences(tmp_path):
    found = of(tmp_path)
    changed = next(one for one in found.competing if words.shifts(one))
    assert words.sentence(found, changed, 5) == (
        "`no-copy` / `copy` in throughput, PUSH/PULL over tcp is **worse** from run 6 on (started 2026-11-06): 1.25 "
        "before, 1.10 after, a factor of 0.880. Run 6 differs from run 5 in library pyzmq (26.0 before, 27.3 after)."
    )


def test_the_summary_counts_curves_runs_and_null_arms(tmp_path):
    said = words.summary(of(tmp_path))
    assert said.startswith("1 of 2 curves of an arm against its reference shifted within 8 runs.")
    assert "at most about 0.10 of 2 curves would appear to shift by chance. Of 1 null arm, whose ratio" in said
    assert said.endswith("0 appear to shift.")


@pytest.mark.parametrize(
    "tables",
    [
        altered(6, changed=False),
        altered(6, level=1.15),
        altered(5, level=1.3),
        altered(6, began_utc="2026-12-24T10:00:00+00:00"),
        altered(6, better="lower"),
        altered(4, arm="default", changed=True),
        altered(4, arm="null", changed=True),
        history() | {"runs": [*history()["runs"], *facts("9", "27.3")]},
        history() | {"runs": [row | {"value": "1.0"} if row["run"] == "5" else row for row in history()["runs"]]},
    ],
)
def test_every_number_of_the_summary_comes_from_the_tables(tmp_path, tables):
    before = words.summary(of(tmp_path))
    assert words.summary(of(tmp_path, tables)) != before


def test_a_curve_without_a_common_point_is_named_but_not_counted(tmp_path):
    tables = history()
    none = {"cells": 0, "ratio": None, "low": None, "high": None, "level": None}
    tables["history"] = [row | (none if row["arm"] == "default" else {}) for row in tables["history"]]
    found = of(tmp_path, tables)
    said = words.summary(found)
    assert said.startswith("1 of 1 curve of an arm")
    assert said.endswith("by every launch of the runs: `default` / `copy` in throughput, PUSH/PULL over tcp.")
    assert not any("`default`" in line["arms"] for line in words.lines(found, "zmq_throughput"))


def test_if_no_curve_can_be_followed_the_page_says_so(tmp_path):
    tables = history()
    none = {"cells": 0, "ratio": None, "low": None, "high": None, "level": None, "changed": False}
    tables["history"] = [row | none for row in tables["history"]]
    said = words.summary(of(tmp_path, tables))
    assert said.startswith("No curve of an arm can be followed through these 8 runs.\n\nLeft out, because")
    charts.draw(tmp_path)
    assert "Left out" in HistoryPage(tmp_path).summary().data


def test_the_better_direction_decides_between_better_and_worse(tmp_path):
    tables = history()
    tables["history"] = [row | {"better": "lower"} for row in tables["history"]]
    assert "is **better** from run 6 on" in words.summary(of(tmp_path, tables))


def test_the_table_has_the_levels_of_each_curve_and_the_first_and_last_run(tmp_path):
    lines = words.lines(of(tmp_path), "zmq_throughput")
    assert [list(line.values())[1:] for line in lines] == [
        ["`default` / `copy`", "8", "1.10 [1.07, 1.13]", "1.10 [1.07, 1.13]", "one"],
        ["`no-copy` / `copy`", "8", "1.25 [1.21, 1.29]", "1.10 [1.07, 1.13]", "1.25 from run 1; 1.10 from run 6"],
    ]


def test_every_run_has_a_line_that_says_what_was_new(tmp_path):
    lines = words.run_lines(of(tmp_path))
    assert [line["run"] for line in lines] == [str(number) for number in range(1, 9)]
    assert list(lines[0].values())[1:] == ["results.1", "2026-11-01", "5", "–"]
    differs = [line["differs from the run before in"] for line in lines]
    assert differs[5:7] == ["library pyzmq (26.0 before, 27.3 after)", "no recorded fact"]


def test_a_chart_holds_the_arms_of_one_metric_and_protocol_with_their_levels(tmp_path):
    (courses,) = charts.groups(of(tmp_path)).values()
    points = charts.chart(courses).to_dict()["data"]["values"]
    assert {point["arm"] for point in points} == {"no-copy", "default"}
    assert [point["level"] for point in points if point["arm"] == "no-copy"] == [1.25] * 5 + [1.1] * 3


def test_the_whole_page_is_rendered(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    folder = write(history(), tmp_path / "history")
    charts.draw(folder)
    renderer.render(folder, folder / "index.html", source="history.qmd")
    html = (folder / "index.html").read_text()
    assert html.count('class="crossover-chart"') == 1
    assert "1.25 from run 1; 1.10 from run 6" in html
    assert "| run |" in HistoryPage(folder).runs().data
