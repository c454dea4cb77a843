"""Floods of tiny tasks to a pool of processes, in the loops of the pools' own manuals.

It follows the example of `ProcessPoolExecutor` (docs.python.org/3/library/concurrent.futures.html), "Using a pool of
workers" (docs.python.org/3/library/multiprocessing.html), "Embarrassingly parallel for loops"
(joblib.readthedocs.io/en/stable/parallel.html) and "map" of ipyparallel's direct interface
(ipyparallel.readthedocs.io/en/latest/tutorial/direct.html). Takes the pool, the number of workers, the prelude of each
flood (`pause` of 20 ms, or `none`), then numbers of tasks. Prints tasks/s by tasks, from the first submission to the
last result, as the median over floods. Workers start by `spawn`, those of joblib by its own `loky`.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from math import sqrt
from time import perf_counter, sleep
from typing import Any

import ipyparallel as ipp
from joblib import Parallel, delayed

FLOODS = 60
PAUSE_SECONDS = 0.02

Flood = Callable[[int], list[Any]]
"""Makes so many tasks, and returns their results."""


@contextmanager
def pool(kind: str, workers: int) -> Iterator[Flood]:
    """A pool, and its loop."""
    spawn = multiprocessing.get_context("spawn")
    if kind.startswith("concurrent.futures"):
        with ProcessPoolExecutor(workers, spawn) as executor:
            yield {
                "concurrent.futures": lambda n: [
                    future.result() for future in [executor.submit(sqrt, i) for i in range(n)]
                ],
                "concurrent.futures chunk 8": lambda n: list(executor.map(sqrt, range(n), chunksize=8)),
            }[kind]
    elif kind.startswith("multiprocessing.Pool"):
        with spawn.Pool(workers) as made:
            yield {
                "multiprocessing.Pool": lambda n: [
                    each.get() for each in [made.apply_async(sqrt, (i,)) for i in range(n)]
                ],
                "multiprocessing.Pool map": lambda n: made.map(sqrt, range(n)),
            }[kind]
    elif kind == "joblib":
        yield lambda n: Parallel(n_jobs=workers)(delayed(sqrt)(i) for i in range(n))
    else:
        with tempfile.TemporaryDirectory(prefix="plain-") as folder:
            cluster = ipp.Cluster(n=workers, profile_dir=folder, cluster_id="", log_level=logging.ERROR)
            with cluster as client:
                view = client[:]
                yield lambda n: view.map_sync(sqrt, range(n))


def main(kind: str, workers: str, prelude: str, *counts: str) -> None:
    """Start a pool, and measure every number of tasks."""
    found = {}
    with pool(kind, int(workers)) as flood:
        for tasks in map(int, counts):

            def rate(tasks: int = tasks) -> float:
                if prelude == "pause":
                    sleep(PAUSE_SECONDS)
                began = perf_counter()
                flood(tasks)
                return tasks / (perf_counter() - began)

            for _ in range(5):
                rate()
            found[tasks] = statistics.median(rate() for _ in range(FLOODS))
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
