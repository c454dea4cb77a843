"""Does the text on two runs agree with the tables, and change with them?"""

import pytest
from comparisons import NULL, cell, cells, comparison, curve, difference, same, write

from crossover.report.pages import changes as compared


def of(tmp_path, **changes):
    """The tables of the synthetic comparison that the report reads; `tables` replaces some of them."""
    return compared.load(write(comparison() | changes, tmp_path))


def test_a_changed_curve_has_its_numbers_and_the_point_of_its_largest_change(tmp_path):
    found = of(tmp_path)
    assert compared.change_sentence(found, found.curves[0]) == (
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


def test_a_curve_without_a_mean_is_described_by_its_points(tmp_path):
    gaps = curve(before=None, after=None, change=None, low=None, high=None)
    found = of(tmp_path, changes=[gaps, *cells()])
    assert compared.change_sentence(found, gaps).startswith(
        "`no-copy` against `copy` is **worse** in throughput, PUSH/PULL over tcp; worse at 2 of its points"
    )


def test_the_terminal_counts_the_curves_and_names_those_that_changed_without_null_arms(tmp_path):
    found = of(tmp_path, changes=[same(), same(verdict="worse", **NULL), same(arm="other", p=0.5), curve(), *cells()])
    first, named, _ = compared.in_a_terminal(found).splitlines()
    assert first == "Of 3 curves of an arm against its reference, 1 worse and 2 the same within ±10 %."
    assert named.startswith("  no-copy against copy is worse in throughput")


def test_differences_are_named_and_days_are_no_reason_for_a_change(tmp_path):
    found = of(tmp_path)
    assert compared.differences(found) == "The runs differ in library pyzmq (26.0 before, 27.3 after)."
    assert compared.in_a_terminal(found).endswith("The runs differ in library pyzmq (26.0 before, 27.3 after).")
    only = [difference("machine", "memory_bytes", "1", "2"), difference("code", "commit", "", "ab")]
    said = compared.differences(of(tmp_path, differences=only))
    assert said == "The runs differ in memory bytes (1 before, 2 after) and crossover's commit (– before, ab after)."
    alike = of(tmp_path, differences=[difference("run", "folder", "results.before", "results.after")])
    assert compared.differences(alike) == "The runs differ in no recorded fact."
