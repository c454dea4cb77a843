"""Does a fit find the lines of a curve and their number, and do its intervals have their coverage?"""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crossover.analyse.estimators.hockney import FEWEST, hockney

SIZES = np.logspace(2, 6, 13).round()
ALPHA, BETA = 5e-6, 1e9
SWITCH = 30_000


def one_line(size):
    return ALPHA + size / BETA


def two_lines(size):
    return np.where(size < SWITCH, 2e-6 + size / 5e8, 9e-6 + size / 2e9)


def campaign(random, seconds, launches=5, sizes=SIZES, launch_sd=0.05, cell_sd=0.02):
    """Logarithms of seconds, shape (launches, cells); each launch shifts the whole curve, and each cell."""
    log = np.log(seconds(sizes)) + launch_sd * random.standard_normal((launches, 1))
    return log + cell_sd * random.standard_normal((launches, len(sizes)))


def holds(line, name, truth):
    return line[f"{name}_low"] <= truth <= line[f"{name}_high"]


@pytest.mark.parametrize("launches", [3, 5, 10])
def test_the_intervals_of_one_line_hold_the_truth_in_about_95_of_100_campaigns(launches):
    random = np.random.default_rng(launches)
    fits = [hockney(SIZES, campaign(random, one_line, launches)) for _ in range(200)]
    single = [fit[0] for fit in fits if len(fit) == 1]
    assert len(single) >= 0.93 * len(fits)
    for held in (
        [holds(line, "latency_seconds", ALPHA) for line in single],
        [holds(line, "rate_bytes", BETA) for line in single],
    ):
        assert 0.90 <= np.mean(held) <= 1


def test_two_lines_are_found_with_their_break():
    random = np.random.default_rng(1)
    fits = [hockney(SIZES, campaign(random, two_lines)) for _ in range(100)]
    double = [fit for fit in fits if len(fit) == 2]
    assert len(double) >= 93
    for truth, held in {
        2e-6: [holds(first, "latency_seconds", 2e-6) for first, _ in double],
        5e8: [holds(first, "rate_bytes", 5e8) for first, _ in double],
        9e-6: [holds(second, "latency_seconds", 9e-6) for _, second in double],
        2e9: [holds(second, "rate_bytes", 2e9) for _, second in double],
        SWITCH: [holds(second, "break_bytes", SWITCH) for _, second in double],
    }.items():
        assert np.mean(held) >= 0.88, truth
    assert not any("break_bytes" in first for first, _ in double)


def test_lines_without_noise_are_found_exactly():
    first, second = hockney(SIZES, np.log(np.tile(two_lines(SIZES), (3, 1))))
    assert [first["latency_seconds"], first["rate_bytes"]] == pytest.approx([2e-6, 5e8])
    assert [second["latency_seconds"], second["rate_bytes"]] == pytest.approx([9e-6, 2e9])
    ends = SIZES[SIZES < SWITCH][-1], SIZES[SIZES > SWITCH][0]
    assert (
        (first["last_bytes"], second["first_bytes"]) == (second["break_bytes_low"], second["break_bytes_high"]) == ends
    )
    assert first["misfit"] == pytest.approx(0, abs=1e-6)


def test_relative_distances_count_so_that_small_messages_matter():
    sizes = np.logspace(0, 8, 17).round()
    fit = hockney(sizes, campaign(np.random.default_rng(3), lambda m: 1e-6 + m / 1e9, sizes=sizes))
    assert len(fit) == 1
    assert fit[0]["latency_seconds"] == pytest.approx(1e-6, rel=0.1)


def test_a_bend_in_one_launch_only_is_no_segment():
    random = np.random.default_rng(4)
    d = campaign(random, one_line, 5)
    d[2] = campaign(random, two_lines, 1)[0]
    assert len(hockney(SIZES, d)) == 1


def test_a_line_that_falls_has_no_rate_and_one_that_begins_below_zero_no_latency():
    falling = hockney(SIZES, np.log(np.tile(1e-5 - SIZES / 2e11, (3, 1))))[0]
    assert falling["latency_seconds"] == pytest.approx(1e-5)
    assert np.isnan([falling["rate_bytes"], falling["rate_bytes_low"]]).all()
    below = hockney(SIZES[6:], np.log(np.tile(SIZES[6:] / 1e9 - 5e-6, (3, 1))))[0]
    assert np.isnan(below["latency_seconds"])
    assert below["rate_bytes"] == pytest.approx(1e9)


def test_one_launch_cannot_distinguish_a_bend_from_noise():
    fit = hockney(SIZES, np.log(one_line(SIZES))[np.newaxis])
    assert fit == [{"launches": 1, "cells": 13, "segments": 0}]


@pytest.mark.parametrize("cells", [0, 1, 2])
def test_too_few_cells_are_not_fitted(cells):
    fit = hockney(SIZES[:cells], np.log(np.tile(one_line(SIZES[:cells]), (5, 1))))
    assert fit == [{"launches": 5 if cells else 0, "cells": cells, "segments": 0}]


def test_launches_that_measured_only_a_part_of_the_axis_are_left_out():
    d = campaign(np.random.default_rng(5), two_lines, 8)
    d[5:, :10] = np.nan
    assert hockney(SIZES, d) == hockney(SIZES, d[:5])


def test_a_cell_that_no_launch_measured_is_left_out():
    d = campaign(np.random.default_rng(6), one_line, 4)
    d[:, 3] = np.nan
    assert hockney(SIZES, d) == hockney(np.delete(SIZES, 3), np.delete(d, 3, axis=1))


def least_squares(size, t, cuts):
    """The residual of the best lines with these cuts, by numpy's least squares."""
    left = 0.0
    for part in np.split(np.arange(len(size)), cuts):
        design = np.stack([1 / t[part], size[part] / t[part]], axis=1)
        left += ((design @ np.linalg.lstsq(design, np.ones(len(part)))[0] - 1) ** 2).sum()
    return left


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(6, 10))
def test_no_other_cuts_give_a_smaller_residual(seed, cells):
    random = np.random.default_rng(seed)
    sizes = np.cumsum(random.uniform(1, 100, cells))
    d = campaign(random, lambda size: 1e-6 + size / 1e8 * np.where(size > sizes[cells // 2], 3, 1), 3, sizes)
    fit = hockney(sizes, d)
    t = np.exp(d.mean(axis=0))
    possible = [
        cuts for cuts in combinations(range(1, cells), len(fit) - 1) if (np.diff([0, *cuts, cells]) >= FEWEST).all()
    ]
    best = min(least_squares(sizes, t, cuts) for cuts in possible)
    assert fit[0]["misfit"] == pytest.approx(np.sqrt(best / cells), rel=1e-6)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.floats(1e-3, 1e3), st.integers(1, 8))
def test_units_change_the_numbers_and_nothing_else(seed, slower, bytes_each):
    d = campaign(np.random.default_rng(seed), two_lines, 4)
    plain, scaled = hockney(SIZES, d), hockney(bytes_each * SIZES, d + np.log(slower))
    assert len(plain) == len(scaled)
    for one, other in zip(plain, scaled, strict=True):
        assert other["latency_seconds"] == pytest.approx(slower * one["latency_seconds"], nan_ok=True, rel=1e-6)
        assert other["rate_bytes_high"] == pytest.approx(
            bytes_each / slower * one["rate_bytes_high"], nan_ok=True, rel=1e-6
        )
        assert other["last_bytes"] == bytes_each * one["last_bytes"]
