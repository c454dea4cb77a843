"""pyzmq's own collection of throughputs, copy first and then zero-copy, like pyzmq's script.

Takes the folder of pyzmq's performance scripts, the shortest count in seconds, and sizes; prints by size the messages/s
of copying and of zero-copy, each the mean of the one to three counts that last long enough, and the first of these of
both. Given again, as size:count:count, they are not searched for: a search costs time and adds nothing to the mean.
With `--warm`, which needs these counts, one process receives all runs over one connection; the script starts and opens
one for each.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable
from contextlib import nullcontext, redirect_stdout
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from pyzmq_perf import loaded, one_receiver, url


def main(folder: str, shortest: str, *sizes: str) -> None:
    """Collect every size; print the ratios and counts."""
    scripts = Path(folder)
    perf = loaded(scripts, "perf")
    collect = loaded(scripts, "collect")
    collect.URLs["ipc"] = url()
    t_min = float(shortest)
    t_max = 3 * t_min

    def counted(run: Callable[..., Any], size: int, copy: bool, count: int | None) -> list[tuple[int, float]]:
        """Messages and messages/s of the runs that last long enough."""
        if count is None:
            found = collect.compute_data_point("thr", size, copy, transport="ipc", t_min=t_min, t_max=t_max)
            return [(count, throughput) for (_, throughput), count in found]
        found, lasted = [], 0.0
        while lasted < t_max:
            began = perf_counter()
            _, throughput = run(count=count, size=size, copy=copy, poll=False, url=url(), quiet=True)
            lasted = perf_counter() - began
            found.append((count, throughput))
            count *= 2
        return found

    told = {}
    points = [each for each in sizes if each != "--warm"]
    runs = one_receiver(perf, "thr") if "--warm" in sizes else nullcontext(partial(perf.do_run, "thr"))
    with redirect_stdout(sys.stderr), runs as run:
        for each in points:
            size, *counts = map(int, each.split(":"))
            copying, lending = (
                counted(run, size, copy, count)
                for copy, count in zip((True, False), counts or (None, None), strict=True)
            )
            rates = [statistics.mean(throughput for _, throughput in found) for found in (copying, lending)]
            told[size] = [*rates, copying[0][0], lending[0][0]]
    print(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
