"""What engines are given to do: functions of one argument that return it, so that each result shows that its task ran.

Engines find them by name, wherever they are; so nothing heavy may be imported here, and MPI least of all.
"""

from __future__ import annotations

import time
from typing import TypeVar

T = TypeVar("T")


def echo(value: T) -> T:
    """Do nothing: the value may be a number, or an array on its way there and back."""
    return value


def sleep(seconds: float) -> float:
    """Take time without taking a core."""
    time.sleep(seconds)
    return seconds


def spin(turns: int) -> int:
    """Take a core for a fixed amount of work, which lasts the longer the less of a core there is."""
    left = turns
    while left > 0:
        left -= 1
    return turns


def turns_per_second(bursts: int = 2000, burst_turns: int = 20_000) -> float:
    """How fast a core that is left alone turns, from the fastest of many short bursts: others' work only slows them.

    The bursts take about a second, because a virtual machine can lose a part of its core for some tenths of one. With
    a speed that is too low an efficiency can exceed 1.
    """
    fastest = float("inf")
    for _ in range(bursts):
        began = time.perf_counter()
        spin(burst_turns)
        fastest = min(fastest, time.perf_counter() - began)
    return burst_turns / fastest
