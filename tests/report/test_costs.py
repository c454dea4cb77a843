"""Do the costs of a send follow from the rates and ratios, and are unmeasured costs left out?"""

import pytest
from campaigns import SIZES_BYTES, Campaign, mpi, run, tasks, zmq

from crossover.report.base import tables
from crossover.report.pages.index import Page
from crossover.report.sections import costs

RATES = {"copy": {100.0: 1e6, 1000.0: 2e6, 800000.0: 4000.0}, "no-copy": {100.0: 2e5, 1000.0: 1e5, 800000.0: 3e5}}
RATIOS = {100.0: (0.2, 0.16, 0.25), 1000.0: (0.05, 0.04, 0.06), 800000.0: (75.0, 70.0, 80.0)}


def rows(metric, rates=RATES, **changes):
    """The summary and ratios of one panel; intervals of rates reach a fifth below and a quarter above."""
    shared = {
        "experiment": "zmq_throughput", "placement": "node", "protocol": "PUSH/PULL over ipc", "metric": metric,
        "axis_unit": "bytes", "null": False, "ceiling": False, "unit": "messages/s",
    } | changes  # fmt: skip
    summary = [
        shared | {"arm": arm, "x": x, "median": rate, "low": rate / 1.25, "high": rate * 1.25}
        for arm, along in rates.items()
        for x, rate in along.items()
    ]
    named = ("ratio", "low", "high")
    ratios = [
        shared | {"arm": "no-copy", "reference": "copy", "x": x} | dict(zip(named, values, strict=True))
        for x, values in RATIOS.items()
    ]
    return summary, ratios


def told(*panels):
    """The lines of the table as {title of the column: cell}."""
    parts = [tables.panels(*each, []) for each in panels]
    return costs.sends([panel for part in parts for panel in part])


@pytest.fixture
def lines():
    return told(rows("throughput", {arm: RATES["copy"] for arm in RATES}), rows("send rate"))


def test_there_is_a_line_for_each_arm_of_a_curve(lines):
    assert [(line["protocol"], line["arm"]) for line in lines] == [
        ("PUSH/PULL over ipc", "`copy`"),
        ("PUSH/PULL over ipc", "`no-copy`"),
    ]


def test_the_largest_rates_have_their_sizes(lines):
    assert [line["largest throughput, messages/s"] for line in lines] == ["2,000,000 at 1 kB"] * 2
    assert [line["largest send rate, messages/s"] for line in lines] == ["2,000,000 at 1 kB", "300,000 at 800 kB"]


def test_peaks_at_the_same_size_are_compared_with_an_interval_and_others_without(lines):
    copy, no_copy = lines
    assert no_copy["largest throughput / that of `copy`"] == "0.0500 [0.0400, 0.0600]"
    assert no_copy["largest send rate / that of `copy`"] == "0.150"
    assert copy["largest throughput / that of `copy`"] == copy["largest send rate / that of `copy`"] == "–"


def test_the_time_of_a_send_is_the_inverse_of_its_rate(lines):
    assert [line["a send of 100 B, µs"] for line in lines] == ["1.00 [0.800, 1.25]", "5.00 [4.00, 6.25]"]


def test_the_penalty_and_its_interval_come_from_the_ratio(lines):
    copy, no_copy = lines
    # A copy takes 1 µs and the ratio is 0.2, so the penalty is 1 / 0.2 - 1 µs; the ends likewise.
    assert no_copy["penalty over `copy`, µs"] == "4.00 [3.00, 5.25]"
    assert copy["penalty over `copy`, µs"] == "–"


def test_the_large_message_is_the_nearest_measured_size(lines):
    assert [line["a send of 800 kB, µs"] for line in lines] == ["250 [200, 312]", "3.33 [2.67, 4.17]"]


def test_without_a_size_near_a_megabyte_there_is_no_large_message():
    small = {arm: {100.0: rates[100.0], 3e6: 10.0} for arm, rates in RATES.items()}
    lines = told(rows("throughput", small), rows("send rate", small))
    assert [line["a send of 1 MB, µs"] for line in lines] == ["–", "–"]


def test_without_replication_there_is_no_interval(tmp_path):
    results = Campaign([zmq(metric=name, launches=1) for name in ("throughput", "send rate")]).write(tmp_path)
    shown = Page({}, results).costs("zmq_throughput").data
    assert "`no-copy`" in shown and "[" not in shown


def test_the_null_arm_is_left_out_and_an_arm_without_a_size_has_no_time(tmp_path):
    rates = RATES | {"no-copy": {1000.0: 1e5}, "null": RATES["copy"]}
    summary, ratios = rows("send rate", rates)
    summary = [row | {"null": row["arm"] == "null"} for row in summary]
    ratios = [row for row in ratios if row["x"] == 1000]
    copy, no_copy = told(rows("throughput"), (summary, ratios))
    assert (no_copy["a send of 100 B, µs"], no_copy["penalty over `copy`, µs"]) == ("–", "–")
    assert copy["a send of 100 B, µs"] != "–"


def test_rates_and_times_are_shown_even_without_ratios():
    (line,) = told(*((rows(name, {"copy": RATES["copy"]})[0], []) for name in ("throughput", "send rate")))
    assert line["a send of 100 B, µs"] == "1.00 [0.800, 1.25]"
    assert line["penalty over the reference, µs"] == "–"


def test_the_page_has_a_line_per_curve_and_arm_of_a_whole_run(results):
    shown = Page({}, results).costs("zmq_throughput").data
    assert sum(line.startswith("|") for line in shown.splitlines()) == 2 + 2 * 2
    assert f"a send of {SIZES_BYTES[0]:.0f} B, µs" in shown and "a send of 1 MB, µs" in shown


def test_an_experiment_without_send_rates_has_no_such_table(tmp_path):
    page = Page({}, Campaign([mpi()]).write(tmp_path))
    assert page.costs("mpi_pingpong").data == page.costs("zmq_throughput").data == "No send was timed."


# ---- straight lines


def fit(**changes):
    told = {
        "experiment": "mpi_pingpong", "placement": "node", "protocol": "float64 array", "arm": "Send", "null": False,
        "launches": 3, "cells": 13, "segments": 2, "segment": 2, "first_bytes": 31600.0, "last_bytes": 1e6,
        "latency_seconds": 9e-6, "latency_seconds_low": 8e-6, "latency_seconds_high": 1e-5,
        "rate_bytes": 2e9, "rate_bytes_low": 1.9e9, "rate_bytes_high": 2.2e9,
        "break_bytes": 17800.0, "break_bytes_low": 10000.0, "break_bytes_high": 31600.0, "misfit": 0.034,
    }  # fmt: skip
    return told | changes


def test_a_segment_is_told_with_its_intervals():
    assert [list(line.values()) for line in costs.fits([fit()])] == [
        [
            "`mpi_pingpong`", "float64 array", "`Send`", "31.6 kB to 1 MB", "9 µs [8 µs, 10 µs]",
            "2 GB/s [1.9 GB/s, 2.2 GB/s]", "18 kB [10 kB, 32 kB]", "3.4 %",
        ]
    ]  # fmt: skip


def test_what_a_line_does_not_have_is_a_dash():
    (line,) = costs.fits([fit(segment=1, break_bytes=None, rate_bytes=None)])
    assert (line["bytes per second"], line["begins at"]) == ("–", "–")


def test_a_curve_that_was_not_fitted_says_why():
    none = fit(segments=0, segment=None, first_bytes=None)
    assert costs.fits([none | {"launches": 1}])[0]["sizes"] == "not replicated"
    assert costs.fits([none | {"cells": 2}])[0]["sizes"] == "too few points: 2 points in the same launches"


def test_the_null_arm_is_left_out():
    assert costs.fits([fit(arm="null", null=True)]) == []


PLAIN = {"farm": "ipyparallel", "scheme": "leastload", "encrypted": False, "alone": True}


def test_the_cost_of_encryption_is_the_difference_of_the_times_per_task():
    tables = run(Campaign([tasks("round trip", arm="leastload unencrypted")]))
    (panel,) = tables.all_leading({"task_latency": "round trip"})
    longest = panel.ratios_of("leastload unencrypted")[-1]
    with_it = 1e6 / next(
        row["median"] for row in panel.summary if (row["arm"], row["x"]) == ("leastload", longest["x"])
    )
    without = with_it / longest["ratio"]
    (said,) = costs.encryption(
        [panel], {"leastload": PLAIN | {"encrypted": True, "alone": False}, "leastload unencrypted": PLAIN}
    )
    assert said.startswith("Encryption costs `leastload` ")
    assert float(said.split("`leastload` ")[1].split()[0]) == pytest.approx(with_it - without, rel=0.05, abs=0.5)


@pytest.mark.parametrize(
    "other",
    [PLAIN | {"encrypted": True}, PLAIN | {"scheme": "pure"}, {"farm": "dask", "encrypted": False}, {}],
)
def test_arms_that_differ_in_more_than_encryption_have_no_such_cost(other):
    tables = run(Campaign([tasks("round trip", arm="leastload unencrypted")]))
    panels = tables.all_leading({"task_latency": "round trip"})
    reference = {"farm": "ipyparallel", "scheme": "leastload"}
    assert costs.encryption(panels, {"leastload": reference, "leastload unencrypted": other}) == []
