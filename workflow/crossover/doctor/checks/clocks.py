"""Do the hosts' clocks agree, and is the measuring clock fine enough?"""

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
"""Snakemake compares the times of files by the second; clocks that differ by more confuse it."""
COARSE_SECONDS = 1e-6
"""About the time of an exchange of small messages, which a coarser or slower clock cannot resolve."""
SOURCE = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")


def look(pair: Pair) -> dict[str, Any]:
    """The lead of the second rank's wall clock and its uncertainty (seconds), and facts of each measuring clock."""
    exchanges = []
    for _ in range(ROUND_TRIPS):
        if pair.first:
            start = time.time()
            pair.tell(None)
            exchanges.append((start, pair.hear(), time.time()))
        else:
            pair.hear()
            pair.tell(time.time())
    return (offset(exchanges) if pair.first else {}) | {"measuring": pair.both(_measuring())}


def offset(exchanges: list[tuple[float, float, float]]) -> dict[str, float]:
    """The offset of two clocks from the shortest round trip: `offset_seconds`, with uncertainty `within_seconds`.

    An exchange is the time of the request, the other clock's answer, and the time of the answer's arrival.
    """
    start, answer, end = min(exchanges, key=lambda times: times[2] - times[0])
    return {"offset_seconds": answer - (start + end) / 2, "within_seconds": (end - start) / 2}


def _measuring() -> dict[str, Any]:
    """The smallest step of `time.perf_counter`, the time to read it (both in seconds), and the kernel's source."""
    readings = [time.perf_counter() for _ in range(READINGS)]
    steps = [later - earlier for earlier, later in pairwise(readings)]
    return {
        "step_seconds": min(step for step in steps if step > 0),
        # The mean would include the time of other processes on the processor.
        "reading_seconds": median(steps),
        "source": SOURCE.read_text(encoding="utf-8").strip() if SOURCE.exists() else "",
    }


def judge(seen: Seen) -> Finding:
    """Clocks that differ or are coarse are a warning, because ratios within a host stay correct."""
    facts, apart = seen.pair("clocks")
    if not facts:
        return NO_PAIR
    slowest = max(facts["measuring"], key=lambda clock: max(clock["step_seconds"], clock["reading_seconds"]))
    fineness = (
        f"the measuring clock ({slowest['source'] or 'source unknown'}) has steps of "
        f"{slowest['step_seconds'] * 1e9:.0f} ns and takes {slowest['reading_seconds'] * 1e9:.0f} ns to read"
    )
    offset_seconds, within_seconds = abs(facts["offset_seconds"]), facts["within_seconds"]
    differ = f"the wall clocks of the two hosts differ by {offset_seconds:.2g} s (within {within_seconds * 1e6:.0f} µs)"
    text = f"{differ if apart else 'one host, so one wall clock'}; {fineness}"
    if max(slowest["step_seconds"], slowest["reading_seconds"]) > COARSE_SECONDS:
        step = "short exchanges cannot be resolved; ask the site for nodes whose kernel uses the clock source tsc"
        return Finding(Verdict.WARNING, text, "constraint", step)
    if offset_seconds - within_seconds > WALL_SECONDS:
        step = (
            "dates in the results will disagree, but rates and latencies do not depend on them; ask the site about NTP"
        )
        return Finding(Verdict.WARNING, text, step=step)
    return Finding(Verdict.OK, text)
