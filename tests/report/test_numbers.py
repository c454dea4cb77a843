"""Are numbers formatted correctly for a reader?"""

import doctest
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crossover.report.charts import overlay
from crossover.report.text import choices, machine, numbers, tables

positive = st.floats(1e-12, 1e15)
PREFIXES = {symbol: 10.0**power for power, symbol in numbers.PREFIXES.items()}


@pytest.mark.parametrize("module", [numbers, tables, machine, overlay, choices])
def test_the_examples_in_the_docstrings_hold(module):
    tried = doctest.testmod(module)
    assert tried.attempted and not tried.failed


def number(text):
    return float(text.replace(",", ""))


@given(st.floats(1, 1e15))
def test_a_bound_is_never_rounded_down(guarantee):
    assert guarantee * (1 - 1e-8) <= number(choices.bound(guarantee)) <= guarantee * 1.0101


@given(positive, st.integers(2, 5))
def test_rounding_is_within_half_a_unit_of_the_last_digit(value, digits):
    text = numbers.significant(value, digits)
    assert "e" not in text
    assert abs(number(text) - value) <= 0.5000001 * 10.0 ** (math.floor(math.log10(value)) - digits + 1)


@given(st.floats(1e-9, 1e14))
def test_seconds_with_a_prefix_keep_their_value(value):
    amount, unit = numbers.quantity(value, "s").split(" ")
    assert number(amount) * PREFIXES[unit.removesuffix("s")] == pytest.approx(value, rel=0.006)
    assert 1 <= number(amount) < 1000


@given(st.floats(1, 1e14))
def test_bytes_never_get_a_prefix_that_divides_a_byte(value):
    amount, unit = numbers.quantity(value, "bytes").split(" ")
    assert unit in ("B", "kB", "MB", "GB", "TB")
    assert number(amount) * PREFIXES[unit.removesuffix("B")] == pytest.approx(value, rel=0.006)


@given(st.floats(0, 1e6))
def test_a_duration_adds_up(seconds):
    sizes = {"h": 3600, "min": 60, "s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
    parts = re.findall(r"([\d.,]+) (h|min|s|ms|µs|ns)\b", numbers.duration(seconds))
    told = sum(number(count) * sizes[unit] for count, unit in parts)
    # Precise to the minute with hours, to the second with minutes, otherwise to two digits.
    slack = 60 if seconds >= 3600 else 0.51 if seconds >= 59.5 else 0.051 * seconds + 1e-9
    assert told == pytest.approx(seconds, abs=slack)


def test_an_unknown_interval_is_not_shown_and_only_times_and_rates_are_faster():
    assert numbers.comparatives("times") == numbers.comparatives("") == ("better", "worse")
    assert numbers.ratio(1.3, None, 1.4) == "1.30"
    assert numbers.position(4640, None, None, "bytes") == "4.6 kB (no interval)"
    assert numbers.position(4640, None, 5000, "bytes") == "4.6 kB [open, 5 kB]"
