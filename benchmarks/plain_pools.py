"""Floods of tiny tasks to a pool of processes, in the loops of the pools' own manuals.

It follows the example of `ProcessPoolExecutor` (docs.python.org/3/library/concurrent.futures.html), "Using a pool of
workers" (docs.python.org/3/library/multiprocessing.html) and "Embarrassingly parallel for loops"
(joblib.readthedocs.io/en/stable/parallel.html). Takes the pool, the number of workers, then numbers of tasks. Prints
tasks/s by tasks, from the first submission to the last result, as the median over floods. Workers start by `spawn`,
those of joblib by its own `loky`.
"""

from __future__ import annotations

import json
import multiprocessing
import statistics
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from math import sqrt
from time import perf_counter
from typing import Any

from joblib import Parallel, delayed

FLOODS = 60

Flood = Callable[[int], list[Any]]
"""Makes so many tasks, and returns their results."""


@contextmanager
def pool(kind: str, workers: int) -> Iterator[Flood]:
    """A pool, and its loop."""
    spawn = multiprocessing.get_context("spawn")
    if kind == "concurrent.futures":
        with ProcessPoolExecutor(workers, spawn) as executor:
            yield lambda tasks: [future.result() for future in [executor.submit(sqrt, i) for i in range(tasks)]]
    elif kind == "multiprocessing.Pool":
        with spawn.Pool(workers) as made:
            yield lambda tasks: [each.get() for each in [made.apply_async(sqrt, (i,)) for i in range(tasks)]]
    else:
        yield lambda tasks: Parallel(n_jobs=workers)(delayed(sqrt)(i) for i in range(tasks))


def main(kind: str, workers: str, *counts: str) -> None:
    """Start a pool, and measure every number of tasks."""
    found = {}
    with pool(kind, int(workers)) as flood:
        for tasks in map(int, counts):

            def rate(tasks: int = tasks) -> float:
                began = perf_counter()
                flood(tasks)
                return tasks / (perf_counter() - began)

            for _ in range(5):
                rate()
            found[tasks] = statistics.median(rate() for _ in range(FLOODS))
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
