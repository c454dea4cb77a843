"""The candidates of `crossover try` in a plain program: each calls the function of a file 20 times in turn.

Takes a user's file and numbers of items, such as `docs/examples/count_primes.py 1 8 64`; prints items/s by number of
items, which are new in each call, the median over turns. Nothing of crossover is imported.
"""

import importlib
import multiprocessing
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

from joblib import Parallel, delayed

TURNS = 20
WORKERS = 2


def main(file, *counts):
    """Print the medians."""
    sys.path.insert(0, str(Path(file).parent))
    work = importlib.import_module(Path(file).stem)
    spawn = multiprocessing.get_context("spawn")
    with (
        ThreadPoolExecutor(WORKERS) as threads,
        ProcessPoolExecutor(WORKERS, spawn) as processes,
        spawn.Pool(WORKERS) as pool,
        Parallel(WORKERS) as parallel,
    ):
        calls = {
            "loop": lambda items: [work.task(item) for item in items],
            "threads": lambda items: list(threads.map(work.task, items)),
            "concurrent.futures": lambda items: list(processes.map(work.task, items)),
            "multiprocessing.Pool map": lambda items: pool.map(work.task, items),
            "joblib": lambda items: parallel(delayed(work.task)(item) for item in items),
        }
        for count in map(int, counts):
            rates = {name: [] for name in calls}
            for turn in range(TURNS + 1):
                for name, call in calls.items():
                    items = work.items(count)
                    began = time.perf_counter()
                    call(items)
                    # The first turn starts workers and imports.
                    if turn:
                        rates[name].append(count / (time.perf_counter() - began))
            medians = {name: round(statistics.median(each), 1) for name, each in rates.items()}
            print(count, max(medians, key=medians.get), medians, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
