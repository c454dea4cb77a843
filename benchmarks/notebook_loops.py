"""The loops of ipyparallel's notebook on a cluster that ipyparallel itself starts: no sampler, no ranks, no checks.

Takes `latency`, `throughput` or `map`, the scheme, the number of engines, the tasks per engine of a map, and the
points. Prints, for each point, the median over repeats of tasks/s until the last result is back, or of the efficiency
for `map`. Points are numbers of tasks, bytes of an array, or microseconds of sleep. The notebook maps 16 tasks per
engine.
"""

from __future__ import annotations

import json
import logging
import statistics
import sys
import tempfile
import time
from typing import Any

import ipyparallel as ipp
import numpy as np

REPEATS = 7
TASKS = 128


def flood(view: Any, argument: Any, count: int) -> float:
    """Tasks/s of `count` tasks that echo `argument`."""
    echo = lambda x: x  # noqa: E731 (a lambda, like the notebook's, so the function itself is sent)
    began = time.time()
    for _ in range(count):
        view.apply_async(echo, argument)
    view.wait()
    return count / (time.time() - began)


def efficiency(view: Any, seconds: float, engines: int, tasks_per_engine: int) -> float:
    """The share of the engines' time that the tasks of a map take."""
    began = time.time()
    view.map_async(time.sleep, [seconds] * (engines * tasks_per_engine)).get()
    return tasks_per_engine * seconds / (time.time() - began)


def once(test: str, view: Any, point: int, engines: int, tasks_per_engine: int) -> float:
    """One measurement, after a short rest."""
    time.sleep(0.1)
    match test:
        case "latency":
            return flood(view, "", point)
        case "throughput":
            return flood(view, np.random.random(point // 8), TASKS)
        case _:
            return efficiency(view, point / 1e6, engines, tasks_per_engine)


def main(test: str, scheme: str, engines: str, tasks_per_engine: str, *points: str) -> None:
    """Start a cluster, measure every point in it, print the medians."""
    with tempfile.TemporaryDirectory(prefix="notebook-") as folder:
        controller = [f"--scheme={scheme}", "--hwm=0", "--nodb"]
        cluster = ipp.Cluster(
            n=int(engines), controller_args=controller, profile_dir=folder, cluster_id="", log_level=logging.ERROR
        )
        with cluster as client:
            view = client.load_balanced_view()
            found = {}
            for point in map(int, points):
                sizes = point, int(engines), int(tasks_per_engine)
                once(test, view, *sizes)
                found[point] = statistics.median(once(test, view, *sizes) for _ in range(REPEATS))
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
