"""Does a trial of a user's function fit into its time, whatever the function takes?"""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossover.design.farming import Look
from crossover.experiments.own_task import QUICK
from crossover.planning.trial import AROUND_SECONDS, Extent, trial

EXTENT = Extent(arms=5, programs=5, workers=2)
DURATIONS = st.floats(1e-7, 0.02)


def look(task_seconds, program_seconds=0.05, sending_seconds=1e-5):
    return Look(task_seconds, 10, 10, sending_seconds, program_seconds, 1.0, False)


@pytest.mark.parametrize(
    ("task_seconds", "counts", "programs"),
    [(3e-5, (1, 8, 64, 512, 4096), True), (3e-3, (1, 8, 64), True), (0.3, (2,), True), (3.0, (2,), False)],
)
def test_numbers_of_items_follow_from_the_duration(task_seconds, counts, programs):
    found = trial(look(task_seconds), EXTENT, 1, [])
    assert (found.counts, found.has_programs) == (counts, programs)


def test_a_slow_import_is_part_of_the_time_and_of_the_limit_and_leaves_few_launches():
    usual, slow = (trial(replace(look(3e-5), import_seconds=seconds), EXTENT, 1, []) for seconds in (0, 20))
    assert slow.launches < usual.launches and slow.seconds == pytest.approx(slow.launches * 7 * 20 + 25, abs=20)
    settings = (replace(QUICK, import_seconds=seconds) for seconds in (0.0, 20.0))
    least, most = (each.limit_seconds for each in settings)
    assert most == least + 4 * 7 * 20


@given(DURATIONS, st.floats(1, 30), st.integers(1, 2), st.integers(1, 2))
def test_a_short_function_takes_the_minutes_that_it_is_given(task_seconds, minutes, curves, turns):
    found = trial(look(task_seconds), Extent(5, 5, 2, curves, turns), minutes, [])
    if len(found.counts) > 1:
        assert found.counts[0] == 1 and found.seconds <= 60 * minutes * 1.3 + 1
    assert all(count > found.counts[-1] for count in found.too_long)


def test_programs_that_start_too_slowly_are_left_out_before_numbers_of_items():
    fast, slow = (trial(look(0.001, start), EXTENT, 1, []) for start in (0.1, 5.0))
    assert fast.has_programs and not slow.has_programs and len(slow.counts) > 1


def test_a_large_argument_counts():
    light, heavy = (trial(look(0.001, sending_seconds=sending), EXTENT, 1, []) for sending in (0.0, 0.02))
    assert len(light.counts) > len(heavy.counts)


@given(st.floats(1e-6, 10), st.lists(st.integers(1, 1000), min_size=1, max_size=4))
def test_wanted_numbers_are_all_measured_and_their_time_is_told(task_seconds, wanted):
    found = trial(look(task_seconds), EXTENT, 1, wanted)
    assert found.counts == tuple(sorted({*wanted})) and not found.too_long
    # The loop and its null arm alone.
    assert found.seconds > AROUND_SECONDS + found.launches * 2 * task_seconds * sum(found.counts)


def test_more_minutes_measure_more_items():
    short, long = (trial(look(0.003), EXTENT, minutes, []) for minutes in (1, 15))
    assert long.counts[-1] > short.counts[-1] and long.budget_seconds > short.budget_seconds
