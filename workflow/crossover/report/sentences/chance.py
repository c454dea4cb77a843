"""Significance level of all tests, and error rate of all intervals."""

from __future__ import annotations

CHANCE = 0.05
"""The largest share of tests that report a difference if there is none. The analysis has its own constant, because
wings share no code; a test compares the two."""


def odds() -> str:
    """One in how many findings is due to chance.

    >>> odds()
    '20'
    """
    return f"{1 / CHANCE:.0f}"
