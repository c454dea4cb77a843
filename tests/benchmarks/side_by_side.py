"""Our numbers beside others' of the same thing, measured in turn in one run: `make bench`.

Each turn measures, in a random order: a launch of ours; the same pattern by a plain loop or by mpi4py's own benchmark.
The ratio theirs / ours is taken within the turn; its interval is Student's over the turns. Nothing here passes or
fails: a benchmark is to be read.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow.parquet as pq
from scipy.stats import t

from crossover import plan, schema

HERE = Path(__file__).parent
ELEMENTS = (1_000, 100_000)
SIZES_BYTES = (1_000, 100_000)
ITEM_BYTES = 8

Values = Mapping[int, float]


def ours(experiment: str, metric: str, arm: str, changes: Mapping[str, object]) -> Values:
    """The medians of one launch of ours, by place on the axis."""
    settings = schema.complete({"experiments": {experiment: dict(changes)}})["experiments"][experiment]
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "launch.parquet"
        command = [
            *(sys.executable, "-m", "crossover", "launch", "--experiment", experiment, "--placement", "node"),
            *("--launch", str(random.randrange(10**6)), "--settings", plan.measured(settings)),
            *("--output", str(raw), "--log", f"{raw}.log"),
        ]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        rows = pq.read_table(raw, partitioning=None).to_pylist()
    found: dict[int, list[float]] = {}
    for row in rows:
        if (row["metric"], row["arm"]) == (metric, arm) and row["value"] is not None:
            found.setdefault(int(row["x"]), []).append(row["value"])
    return {x: statistics.median(values) for x, values in found.items()}


def other(*command: str) -> Values:
    """What another program prints as JSON."""
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {int(x): value for x, value in json.loads(answer).items()}


def our_copy() -> Values:
    """Copying throughput over ipc, messages/s."""
    changes = {"sizes_bytes": list(SIZES_BYTES), "transports": ["ipc"], "budget_seconds": 4}
    return ours("zmq_throughput", "throughput", "copy", changes)


def plain_copy() -> Values:
    """The same by a plain loop of PUSH and PULL, messages/s."""
    return other(sys.executable, str(HERE / "plain_push_pull.py"), *map(str, SIZES_BYTES))


def our_send() -> Values:
    """Round trips of `Send`, seconds."""
    return ours("mpi_pingpong", "round trip", "Send", {"elements": list(ELEMENTS), "budget_seconds": 4})


def their_send() -> Values:
    """The same by mpi4py's benchmark, seconds: it knows powers of two alone, so interpolated between them."""
    path = Path(sys.executable).parent
    found = other(str(path / "mpiexec"), "-n", "2", sys.executable, "-m", "mpi4py", str(HERE / "mpi4py_bench.py"))
    return {elements: _between(found, elements * ITEM_BYTES) for elements in ELEMENTS}


def _between(found: Values, size_bytes: int) -> float:
    low = 1 << (size_bytes.bit_length() - 1)
    share = math.log(size_bytes / low) / math.log(2)
    return math.exp((1 - share) * math.log(found[low]) + share * math.log(found[2 * low]))


COMPARISONS: dict[str, tuple[str, Callable[[], Values], Callable[[], Values]]] = {
    "copy throughput over ipc, a plain loop / ours": ("bytes", our_copy, plain_copy),
    "round trip of Send, mpi4py.bench / ours": ("elements", our_send, their_send),
}


def main() -> None:
    """Compare, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=8, help="how often each is measured (default: %(default)s)")
    turns = parser.parse_args().turns
    for name, (unit, mine, theirs) in COMPARISONS.items():
        taken = []
        for turn in range(turns):
            pair: dict[bool, Values] = {}
            for own in random.sample([True, False], 2):
                pair[own] = (mine if own else theirs)()
            taken.append(pair)
            print(f"{name}: turn {turn + 1} of {turns}", file=sys.stderr)
        print(name)
        for x in sorted(taken[0][True]):
            logs = [math.log(pair[False][x] / pair[True][x]) for pair in taken]
            half = t.ppf(0.975, turns - 1) * statistics.stdev(logs) / math.sqrt(turns)
            low, middle, high = (math.exp(statistics.mean(logs) + step) for step in (-half, 0, half))
            absolute = [statistics.median(pair[own][x] for pair in taken) for own in (False, True)]
            print(f"  {x:>9,} {unit}: {middle:.3f} [{low:.3f}, {high:.3f}]   ({absolute[0]:.4g} / {absolute[1]:.4g})")


if __name__ == "__main__":
    os.environ["PYTHONPATH"] = str(HERE.parents[1] / "workflow")
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    main()
