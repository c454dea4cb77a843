"""How often the analysis takes chance for a finding, by which its tests and intervals are made."""

from __future__ import annotations

CHANCE = 0.05
"""The share of tests that find a difference where there is none, at most; the wings share no code, a test compares."""


def odds() -> str:
    """Of how many findings one is chance's.

    >>> odds()
    '20'
    """
    return f"{1 / CHANCE:.0f}"
