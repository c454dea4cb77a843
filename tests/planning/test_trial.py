"""Does a trial of a user's function fit into its time, whatever the function takes?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossover.planning.trial import AROUND_SECONDS, trial

ARMS, WORKERS = 5, 2


@pytest.mark.parametrize(
    ("task_seconds", "counts"), [(3e-5, (1, 8, 64, 512, 4096)), (3e-3, (1, 8, 64)), (0.3, (2,)), (3.0, (2,))]
)
def test_numbers_of_items_follow_from_the_duration(task_seconds, counts):
    assert trial(task_seconds, ARMS, 1, [], WORKERS).counts == counts


@given(st.floats(1e-7, 0.02), st.floats(1, 30))
def test_a_short_function_takes_the_minutes_that_it_is_given(task_seconds, minutes):
    found = trial(task_seconds, ARMS, minutes, [], WORKERS)
    assert found.counts[0] == 1 and found.seconds <= 60 * minutes + 1
    assert all(count > found.counts[-1] for count in found.too_long)


@given(st.floats(1e-6, 10), st.lists(st.integers(1, 1000), min_size=1, max_size=4))
def test_wanted_numbers_are_all_measured_and_their_time_is_told(task_seconds, wanted):
    found = trial(task_seconds, ARMS, 1, wanted, WORKERS)
    assert found.counts == tuple(sorted({*wanted})) and not found.too_long
    # The loop and its null arm alone.
    assert found.seconds > AROUND_SECONDS + found.launches * 2 * found.rounds * task_seconds * sum(found.counts)


def test_more_minutes_measure_more_items():
    short, long = (trial(0.003, ARMS, minutes, [], WORKERS) for minutes in (1, 8))
    assert long.counts[-1] > short.counts[-1] and long.budget_seconds > short.budget_seconds
