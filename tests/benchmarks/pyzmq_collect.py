"""pyzmq's own collection of throughputs, copy first and then zero-copy, as its script does it.

Takes the folder of pyzmq's performance scripts, the shortest count in seconds, and sizes; prints zero-copy / copy by
size, each the mean of the one to three counts that last long enough.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import sys
from pathlib import Path

from pyzmq_perf import loaded


def main(folder: str, shortest_seconds: str, *sizes: str) -> None:
    """Collect every size, print the ratios."""
    scripts = Path(folder)
    loaded(scripts, "perf")
    collect = loaded(scripts, "collect")
    collect.URLs["ipc"] = f"ipc://@collect-{os.getpid()}"
    shortest = float(shortest_seconds)

    def rate(size: int, copy: bool) -> float:
        counts = collect.compute_data_point("thr", size, copy, transport="ipc", t_min=shortest, t_max=3 * shortest)
        return statistics.mean(throughput for (_, throughput), _ in counts)

    ratios = {}
    with contextlib.redirect_stdout(sys.stderr):
        for size in map(int, sizes):
            copying = rate(size, copy=True)
            ratios[size] = rate(size, copy=False) / copying
    print(json.dumps(ratios))


if __name__ == "__main__":
    main(*sys.argv[1:])
