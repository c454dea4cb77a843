"""The error rate of all tests and intervals, in words."""

from __future__ import annotations

from crossover.records.record import SIGNIFICANCE


def odds() -> str:
    """The number of tests or intervals of which chance makes one wrong.

    >>> odds()
    '20'
    """
    return f"{1 / SIGNIFICANCE:.0f}"
