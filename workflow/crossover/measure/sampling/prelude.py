"""The prelude of a flood: a pause before the clock, or none.

Processes of a pool fall asleep in a pause, and must be woken. So each flood has a prelude of its own, and inherits
nothing from the block before (docs/decisions/cores.md).
"""

import time

from crossover.design.protocol import Keys

SECONDS = 0.02
"""How long a prelude lasts (docs/benchmarks/blocks.md)."""


def play(keys: Keys) -> None:
    """Pause, if the curve with these keys has a pause before each flood."""
    if keys.get("prelude") == "pause":
        time.sleep(SECONDS)
