"""The prelude of a block: what the sender does between the readiness of the other end and the clock.

The kernel wakes the other end on the sender's core or on another, and keeps it there for the whole block; which one
follows from what the sender did last. Processes of a pool fall asleep in a pause, and must be woken. So each block has
a prelude of its own, and inherits nothing from the block before (docs/decisions/prelude.md).
"""

import time

from crossover.design.protocol import Keys

SECONDS = 0.02
"""How long a prelude lasts (docs/benchmarks/blocks.md)."""


def play(keys: Keys) -> None:
    """Wait, or work, as the prelude of a curve with these keys says; returns at once for a curve without one."""
    match keys.get("prelude"):
        case "wait" | "pause":
            time.sleep(SECONDS)
        case "work":
            end = time.perf_counter() + SECONDS
            while time.perf_counter() < end:
                pass
