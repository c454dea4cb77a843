"""The tasks of engines: functions that return their only argument, so that each result shows that its task ran.

Engines import this module, so it must not import anything slow, and never MPI.
"""

import time
import timeit
from typing import Any


def echo(value: Any) -> Any:
    """Do nothing; `value` is a number or an array."""
    return value


def sleep(seconds: float) -> float:
    """Take time without using a core."""
    time.sleep(seconds)
    return seconds


def spin(turns: int) -> int:
    """Do a fixed amount of work; it takes longer if the core is shared."""
    left = turns
    while left > 0:
        left -= 1
    return turns


def turns_per_second(bursts: int = 2000, burst_turns: int = 20_000) -> float:
    """The speed of an idle core in turns of `spin` per second: that of the fastest of many short bursts.

    Other work only slows a burst down. All bursts together take about a second, because a virtual machine can lose a
    part of its core for some tenths of a second. With too low a speed, efficiencies could exceed 1.
    """
    return burst_turns / min(timeit.repeat(lambda: spin(burst_turns), timer=time.perf_counter, repeat=bursts, number=1))
