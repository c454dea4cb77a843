"""Do fitted lines have their costs, their starts and their misfit?"""

from crossover.report.sections import fits


def row(**changes):
    told = {
        "experiment": "mpi_pingpong", "placement": "node", "protocol": "float64 array", "arm": "Send", "null": False,
        "launches": 3, "cells": 13, "segments": 2, "segment": 2, "first_bytes": 31600.0, "last_bytes": 1e6,
        "latency_seconds": 9e-6, "latency_seconds_low": 8e-6, "latency_seconds_high": 1e-5,
        "rate_bytes": 2e9, "rate_bytes_low": 1.9e9, "rate_bytes_high": 2.2e9,
        "break_bytes": 17800.0, "break_bytes_low": 10000.0, "break_bytes_high": 31600.0, "misfit": 0.034,
    }  # fmt: skip
    return told | changes


def test_a_segment_has_its_intervals():
    assert fits.lines([row()]) == [
        [
            "`mpi_pingpong`", "float64 array", "`Send`", "31.6 kB to 1 MB", "9 µs [8 µs, 10 µs]",
            "2 GB/s [1.9 GB/s, 2.2 GB/s]", "18 kB [10 kB, 32 kB]", "3.4 %",
        ]
    ]  # fmt: skip


def test_a_missing_number_of_a_line_is_a_dash():
    (line,) = fits.lines([row(segment=1, break_bytes=None, rate_bytes=None)])
    assert line[5:7] == ["–", "–"]


def test_a_curve_without_a_fit_has_the_reason():
    none = row(segments=0, segment=None, first_bytes=None)
    assert fits.lines([none | {"launches": 1}])[0][3] == "not replicated"
    assert fits.lines([none | {"cells": 2}])[0][3] == "too few points: 2 points in the same launches"


def test_the_null_arm_is_left_out():
    assert fits.lines([row(arm="null", null=True)]) == []
