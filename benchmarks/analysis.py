"""Time and memory of a run's analysis, and how both grow with its size: `make bench-analysis`.

Writes raw files like those of a run of the tier `paper`, and derives all tables from them in a separate process.
Nothing here passes or fails: a person reads the numbers. A campaign on a few dozen nodes has thousands of launches:
`--launches 3600 --rows 10000000 --keep FOLDER`; the next call with this FOLDER takes the raw files from there.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from crossover.design.protocol import KEYS
from crossover.design.settings import digest
from crossover.planning import receipt
from crossover.planning.receipt import Files
from crossover.records import record

SIZES = np.logspace(2, 7, 18).round()
PAIR = ("first_rank", "second_rank")
ROUNDS = 10
"""The fewest rounds of a point; more where a launch has too many rows for all points."""
ARMS = ("copy", "no-copy", "default", "recv-into", "C copy", "C no-copy", "null")
METRICS = {"throughput": "messages/s", "bandwidth": "MB/s", "send rate": "messages/s"}
PROTOCOLS = ("PUSH/PULL over tcp", "PUSH/PULL over ipc", "DEALER/ROUTER over ipc")
SETTINGS = '{"placement": "node", "target_width": 0.005, "rounds": {"at_least": 10, "at_most": 200}}'


def launch(random: np.random.Generator, number: int, rounds: int, points: list[tuple[str, float]]) -> pa.Table:
    """The rows of one launch: rounds of all arms in random order, at every point: a protocol and a size."""
    blocks = []
    for protocol, size in points:
        position = np.argsort(random.random((rounds, len(ARMS))), axis=1)
        noise = 0.03 * random.standard_t(3, (rounds, len(ARMS))) + 0.02 * random.standard_normal(len(ARMS))
        drift = np.log(1.3) * np.linspace(0, 1, rounds)[:, np.newaxis]  # so that the analysis cuts many series
        seconds = (1e-6 + size / 2e9) * np.exp(noise + drift)
        for arm, metric in product(range(len(ARMS)), METRICS):
            blocks.append((protocol, metric, arm, size, position[:, arm], 1 / seconds[:, arm]))
    each = [len(block[4]) for block in blocks]
    protocols, metrics, arms, sizes = (np.repeat(np.array([block[at] for block in blocks]), each) for at in range(4))
    turns = np.concatenate([np.arange(count) for count in each])
    places = np.concatenate([block[4] for block in blocks])
    names = np.array(ARMS)[arms]
    count = len(turns)
    columns = {
        "experiment": np.repeat("zmq_throughput", count),
        "placement": np.repeat("node", count),
        "protocol": protocols,
        "arm": names,
        "runs": np.where(names == "null", "copy", names),
        "reference": np.repeat("copy", count),
        "axis": np.repeat("message size", count),
        "axis_unit": np.repeat("bytes", count),
        "metric": metrics,
        "unit": np.array([METRICS[name] for name in METRICS])[np.searchsorted(sorted(METRICS), metrics)],
        "better": np.repeat("higher", count),
        "levels": pa.array([[]] * count, pa.list_(pa.float64())),
        "validity": np.repeat("ok", count),
        "stop": np.repeat("rounds", count),
        "launch": np.full(count, number),
        "round": turns,
        "position": places,
        "n": np.full(count, 1000),
        "start_ns": (turns * len(ARMS) + places) * 12_000_000,
        "x": sizes,
        "value": np.concatenate([block[5] for block in blocks]),
        "block_seconds": np.full(count, 0.012),
        "is_null_arm": names == "null",
        "ceiling": np.char.startswith(names, "C "),
    }
    keys = {name: pa.nulls(count, record.MEASUREMENTS.field(name).type) for name in (*KEYS, *PAIR)}
    patterns, transports = (np.array([label.split(" over ")[at] for label in PROTOCOLS]) for at in range(2))
    which = np.array([PROTOCOLS.index(label) for label in protocols])
    keys |= {"pattern": patterns[which], "transport": transports[which]}
    table = pa.table(keys | columns)
    return table.select(record.MEASUREMENTS.names).cast(record.MEASUREMENTS)


def write(results: Path, rows: int, launches: int) -> None:
    """Write the raw files of a run of about this many rows, and their receipts."""
    random = np.random.default_rng(1)
    every = list(product(PROTOCOLS, SIZES))
    blocks = rows / (launches * len(ARMS) * len(METRICS))
    points = every[: max(1, round(blocks / ROUNDS))]
    rounds = max(ROUNDS, round(blocks / len(points)))
    ranks = [{"rank": rank, "host": f"n{rank}", "cpu": "Imaginary 9000", "libraries": {}} for rank in range(2)]
    told = {"experiment": "zmq_throughput", "placement": "node", "outcome": "measured", "settings": SETTINGS}
    told |= {"host": "alpha", "ranks": 2, "wall_seconds": 1000.0}
    for number in range(1, launches + 1):
        facts = told | {"launch": number}
        name = f"{number}-{digest(json.loads(SETTINGS))}.0.json"
        files = Files(results / "launches/paper/zmq_throughput/node" / name)
        raw = files.next_raw()
        record.write(launch(random, number, rounds, points), raw, {"launch": facts, "ranks": ranks})
        receipt.write(files, raw, facts, ranks)


def analyse(receipts: list[Path], folder: Path) -> None:
    """Derive all tables; print the time and memory."""
    began = time.perf_counter()
    from crossover.analyse.tables import raw_files, writer

    marks = [("start", began), ("imports", time.perf_counter())]
    raw_files.gather(receipts, folder)
    marks.append(("deriving", time.perf_counter()))
    writer.join([folder], folder / "all")
    marks.append(("joining", time.perf_counter()))
    used = resource.getrusage(resource.RUSAGE_SELF)
    gibibytes = used.ru_maxrss / 1024**2
    rows = sum(pq.read_metadata(receipt.read(path).raw_file).num_rows for path in receipts)
    places = (folder.parent.glob("raw/**/*.parquet"), folder.rglob("*.parquet"))
    sizes = (sum(path.stat().st_size for path in place) for place in places)
    raw, tables = (f"{size / 1e6:,.0f} MB" for size in sizes)
    parts = ", ".join(f"{name} {end - start:.1f} s" for (_, start), (name, end) in pairwise(marks))
    took = f"{marks[-1][1] - began:5.1f} s ({used.ru_utime + used.ru_stime:.1f} s of processor)"
    print(f"{rows:>10,} rows: {took}, {gibibytes:.2f} GiB at most; {parts}; {raw} raw, {tables} of tables", flush=True)


def main() -> None:
    """Analyse runs of several sizes, each in a separate process, because memory is measured as a process's peak."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000, 300_000, 1_000_000], help="sizes of the runs")
    parser.add_argument("--launches", type=int, default=10, help="launches of each run (default: %(default)s)")
    parser.add_argument("--keep", type=Path, help="a folder for the runs; by default they are deleted")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.folder:
        shutil.rmtree(chosen.folder / "tables", ignore_errors=True)
        analyse(sorted(chosen.folder.glob("launches/*/*/*/*.json")), chosen.folder / "tables")
        return
    with tempfile.TemporaryDirectory() as temporary:
        for rows in chosen.rows:
            folder = (chosen.keep or Path(temporary)) / f"{rows}-{chosen.launches}"
            if not folder.exists():
                write(folder, rows, chosen.launches)
            subprocess.run([sys.executable, __file__, "--folder", folder], check=True)


if __name__ == "__main__":
    main()
