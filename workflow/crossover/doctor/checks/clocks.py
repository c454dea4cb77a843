"""Do the hosts' clocks agree, and is the one that measures fine enough?"""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from crossover.doctor.finding import NO_PAIR, Finding, Seen, Verdict
from crossover.doctor.pair import Pair

ROUND_TRIPS = 200
READINGS = 10_000
WALL_SECONDS = 1.0
"""Times of files on a shared file system are compared by the second: hosts that differ more confuse Snakemake."""
COARSE_SECONDS = 1e-6
"""An exchange of small messages takes about as long; a clock this coarse or slow tells them apart no longer."""
SOURCE = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")


def look(pair: Pair) -> dict[str, Any]:
    """How far the second rank's wall clock is ahead, how sure that is (seconds), and each rank's measuring clock."""
    found = offset(_exchanges(pair)) if pair.first else _answer(pair)
    return found | {"measuring": pair.both(_measuring())}


def offset(exchanges: list[tuple[float, float, float]]) -> dict[str, float]:
    """What the shortest round trip says of two clocks: `offset_seconds`, which is right within `within_seconds`.

    An exchange is the time at which it was asked, the answer of the other clock, and the time at which that came.
    """
    asked, answer, came = min(exchanges, key=lambda times: times[2] - times[0])
    return {"offset_seconds": answer - (asked + came) / 2, "within_seconds": (came - asked) / 2}


def _exchanges(pair: Pair) -> list[tuple[float, float, float]]:
    found = []
    for _ in range(ROUND_TRIPS):
        asked = time.time()
        pair.tell(None)
        answer = pair.hear()
        found.append((asked, answer, time.time()))
    return found


def _answer(pair: Pair) -> dict[str, float]:
    for _ in range(ROUND_TRIPS):
        pair.hear()
        pair.tell(time.time())
    return {}


def _measuring() -> dict[str, Any]:
    """The smallest step of `time.perf_counter`, what reading it takes (seconds), and what the kernel reads."""
    readings = [time.perf_counter() for _ in range(READINGS)]
    steps = [later - earlier for earlier, later in pairwise(readings)]
    return {
        "step_seconds": min(step for step in steps if step > 0),
        # The mean would hold the time that others had the processor meanwhile.
        "reading_seconds": median(steps),
        "source": SOURCE.read_text().strip() if SOURCE.exists() else "",
    }


def judge(seen: Seen) -> Finding:
    """Clocks that differ or are coarse are a warning: ratios within a host stay right."""
    facts, apart = seen.pair("clocks")
    if not facts:
        return NO_PAIR
    slowest = max(facts["measuring"], key=lambda clock: max(clock["step_seconds"], clock["reading_seconds"]))
    fineness = (
        f"the measuring clock ({slowest['source'] or 'source not told'}) steps by "
        f"{_nanoseconds(slowest['step_seconds'])} and takes {_nanoseconds(slowest['reading_seconds'])} to read"
    )
    agreement = (
        f"the wall clocks of the two hosts differ by {abs(facts['offset_seconds']):.2g} s "
        f"(known to {facts['within_seconds'] * 1e6:.0f} us)"
        if apart
        else "one host, so one wall clock"
    )
    said = f"{agreement}; {fineness}"
    if max(slowest["step_seconds"], slowest["reading_seconds"]) > COARSE_SECONDS:
        step = "short exchanges will be blurred; ask the site for nodes whose kernel uses the clock source tsc"
        return Finding(Verdict.WARNING, said, "constraint", step)
    if abs(facts["offset_seconds"]) - facts["within_seconds"] > WALL_SECONDS:
        step = (
            "no rate or latency depends on it, but dates in the results will disagree; ask the site about NTP or chrony"
        )
        return Finding(Verdict.WARNING, said, step=step)
    return Finding(Verdict.OK, said)


def _nanoseconds(seconds: float) -> str:
    return f"{seconds * 1e9:.0f} ns"
