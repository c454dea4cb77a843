"""Our numbers beside those of plain loops and other programs, measured in turn: `make bench`.

Each turn measures, in random order, a launch of ours and the same pattern by a plain loop or another program. The ratio
theirs / ours is taken within the turn; its interval is Student's over the turns. Nothing here passes or fails: a person
reads the numbers.
"""

from __future__ import annotations

import argparse
import atexit
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from scipy.stats import t

from crossover.config import schema
from crossover.measure.launch import host_lock, mpi_launcher
from crossover.measure.native import compiler, libzmq
from crossover.measure.ranks.network import Reach
from crossover.paths import NATIVE
from crossover.planning import plan, receipt
from crossover.planning.receipt import Files

HERE = Path(__file__).parent
RANKS = (*mpi_launcher.starting("mpiexec", ranks=2, nodes=1), sys.executable, "-m", "mpi4py")
"""Starts two processes like our ranks, because the launcher's grouping decides their shares of the processors."""
SIZES_BYTES = (1_000, 100_000)
ELEMENTS = (1_000, 1_024, 65_536, 100_000, 131_072)
"""mpi4py's benchmark takes only powers of two bytes. The round numbers are comparable with other results."""

Values = Mapping[int, float]


def ours(
    experiment: str,
    metric: str,
    arm: str,
    changes: Mapping[str, object],
    column: str = "value",
    statistic: Callable[[Sequence[float]], float] = statistics.median,
) -> Values:
    """A statistic of one launch of ours, by place on the axis; by default the median."""
    rows = launched(experiment, changes).to_pylist()
    found: dict[int, list[float]] = {}
    for row in rows:
        if (row["metric"], row["arm"]) == (metric, arm) and row["value"] is not None:
            found.setdefault(int(row["x"]), []).append(row[column])
    return {x: statistic(values) for x, values in found.items()}


def launched(experiment: str, changes: Mapping[str, object]) -> pa.Table:
    """The measurements of one launch of ours."""
    config = schema.complete({"experiments": {experiment: dict(changes)}})
    launch = plan.launch(config, experiment, config.experiments[experiment].placements[0], random.randrange(10**6))
    with tempfile.TemporaryDirectory() as folder:
        files = Files.of(folder, "quick", launch, 0)
        files.description.parent.mkdir(parents=True, exist_ok=True)
        files.description.write_text(launch.stored, encoding="utf-8")
        command = [
            *(sys.executable, "-m", "crossover", "launch", str(files.description)),
            *("--receipt", str(files.path), "--log", str(files.log)),
            *("--libraries", *(str(built(Path(path).name)) for path in plan.libraries(config, experiment))),
        ]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        return pq.read_table(receipt.read(files.path).raw_file, partitioning=None)


@cache
def workshop() -> Path:
    """A folder for the libraries that are built; deleted at the end."""
    folder = tempfile.mkdtemp(prefix="crossover-built-")
    atexit.register(shutil.rmtree, folder)
    return Path(folder)


@cache
def built(name: str) -> Path:
    """A library of ours or a variant of libzmq, by its file's name."""
    library = workshop() / name
    if library.name.startswith("libzmq-"):
        line, _ = libzmq.parse(library.stem)
        archive = workshop() / line.archive
        reason = libzmq.fetch(line, archive) or libzmq.build(library.stem, archive, library)
    else:
        reason = compiler.build(NATIVE / f"{library.stem}.c", library)
    if reason:
        sys.exit(reason)
    return library


def other(*command: str) -> dict[int, Any]:
    """The JSON that another program prints.

    Like our launches, it waits until no other is being measured here.
    """
    with host_lock.alone(lambda _: None, lambda: None):
        environment = {**Reach().for_mpi(), **os.environ}
        # With PYTHONSAFEPATH, a program does not find the modules beside it.
        environment["PYTHONPATH"] = os.pathsep.join([environment.get("PYTHONPATH", ""), str(HERE)]).strip(os.pathsep)
        answer = subprocess.run(
            command, check=True, stdout=subprocess.PIPE, env=environment, encoding="utf-8", errors="replace"
        ).stdout
    return {int(x): value for x, value in json.loads(answer).items()}


PLAIN, PUBLISHED = "PUSH/PULL over ipc", "DEALER/ROUTER over ipc"
"""Two of our curves: the pattern that a user would write, and that of pyzmq's own script."""

ZEROMQ = {"sizes_bytes": list(SIZES_BYTES), "placements": ["node"], "budget_seconds": 4}
IN_FLIGHT_BYTES = 64_000_000
LONG = {"block_seconds": 0.25, "burst_seconds": 0.25, "burst_bytes": IN_FLIGHT_BYTES, "budget_seconds": 8}
"""Bursts so long that their start hardly matters, because pyzmq's script starts a new receiving process for each."""


def our_copy(curve: str, column: str = "value") -> Values:
    """Copying throughput along a curve, messages/s."""
    return ours("zmq_throughput", "throughput", "copy", ZEROMQ | LONG | {"curves": [curve]}, column)


@cache
def bursts(curve: str) -> tuple[str, ...]:
    """Our bursts as size:messages, because the rate depends on the number of messages."""
    return tuple(f"{size}:{min(int(n), IN_FLIGHT_BYTES // size)}" for size, n in our_copy(curve, "n").items())


def pyzmqs_throughput(*options: str) -> Values:
    """The same by pyzmq's own script, with equally many messages."""
    return other(sys.executable, str(HERE / "pyzmq_perf.py"), "thr", *bursts(PUBLISHED), *options)


def our_legacy() -> Values:
    """Copying round trips over ipc, seconds. The received message is sent back."""
    return ours("zmq_latency", "round trip", "copy", ZEROMQ | {"curves": ["REQ/REP over ipc, legacy"]})


def pyzmqs_latency() -> Values:
    """The same by pyzmq's own script, seconds."""
    return other(sys.executable, str(HERE / "pyzmq_perf.py"), "lat", *(f"{size}:2000" for size in SIZES_BYTES))


def plain_copy() -> Values:
    """The throughput of a plain loop of PUSH and PULL, with bursts as long as ours, messages/s."""
    return other(sys.executable, str(HERE / "plain_push_pull.py"), *bursts(PLAIN))


def plain_copy_in_ranks() -> Values:
    """The same between two ranks of an MPI launch, like ours."""
    return other(*RANKS, str(HERE / "plain_push_pull.py"), "--ranks", *bursts(PLAIN))


PINGPONG = {
    "elements": list(ELEMENTS),
    "objects": ["float64 array"],
    "players": ["rank"],
    "arms": ["send", "Send"],
    "ceilings": ["C"],
    "budget_seconds": 6,
}


def our_send() -> Values:
    """Round trips of `Send`, seconds."""
    return ours("mpi_pingpong", "round trip", "Send", PINGPONG)


def our_best_c() -> Values:
    """Round trips of the same in C, seconds: the best of all blocks, because NetPIPE prints the best."""
    return ours("mpi_pingpong", "round trip", "C", PINGPONG, statistic=min)


def their_best_send() -> Values:
    """The best loop of mpi4py's benchmark, on arrays that were written to, seconds."""
    return their_send("--written", "--best")


NETPIPE_REPEATS = ("1024:4000", "65536:200", "131072:100")
NETPIPE_STARTS = 4


def netpipe() -> Values:
    """NetPIPE's best of several starts, seconds."""
    return best([other(sys.executable, str(HERE / "netpipe.py"), *NETPIPE_REPEATS) for _ in range(NETPIPE_STARTS)])


def our_c_in_one_buffer() -> Values:
    """The same in our C, which returns each received message, as NetPIPE does."""
    command = [*RANKS, str(HERE / "c_pingpong.py"), str(built("mpi_exchange.so")), *NETPIPE_REPEATS]
    return best([other(*command) for _ in range(NETPIPE_STARTS)])


def best(starts: Sequence[Values]) -> Values:
    """The smallest value at each point."""
    return {x: min(values[x] for values in starts) for x in starts[0]}


def their_send(*options: str) -> Values:
    """The same by mpi4py's benchmark, seconds."""
    return other(*RANKS, str(HERE / "mpi4py_bench.py"), *options)


def their_send_written() -> Values:
    """The same, with arrays that were written to beforehand."""
    return their_send("--written")


def our_re_sent(arm: str) -> Values:
    """Round trips of `send` or `Send` that send and receive the same array, seconds."""
    return ours("mpi_pingpong", "round trip", arm, PINGPONG | {"objects": ["float64 array, re-sent"]})


def tutorials(kind: str) -> Values:
    """Round trips of `send` or `Send` by a tutorial's plain loop, seconds."""
    return other(*RANKS, str(HERE / "tutorial_pingpong.py"), kind, *map(str, ELEMENTS))


INPROC_BURSTS = ("8:1000000", "512:400000", "4096:400000")


def inproc(whose: str) -> Values:
    """Messages/s between two threads in C, by libzmq's own program (`theirs`) or by our driver (`ours`)."""
    files = (str(built("zmq_inproc.so")), str(built("libzmq-4.3.4-64.so")))
    return other(sys.executable, str(HERE / "libzmq_inproc.py"), whose, *files, *INPROC_BURSTS)


FARM = {"arms": ["leastload", "pure"], "budget_seconds": 12, "rivals_per_heat": 1}
ENGINES = 2
TASKS_PER_ENGINE = 16
NOTEBOOK: dict[str, tuple[str, str, dict[str, object]]] = {
    "latency": ("task_latency", "round trip", {"tasks": [16, 128], "engines": ENGINES}),
    "throughput": ("task_throughput", "round trip", {"sizes_bytes": [1_000, 100_000], "engines": ENGINES}),
    "map": (
        "task_map",
        "efficiency",
        {
            **{"durations_us": [1_000, 10_000, 100_000], "work": ["sleep"], "durations": ["equal"]},
            "engine_counts": [ENGINES],
        },
    ),
}
"""For each loop of ipyparallel's notebook: our experiment for the same thing, its metric and the points."""


def our_farm(loop: str) -> Values:
    """Tasks/s of ipyparallel with the scheme `leastload`."""
    experiment, metric, changes = NOTEBOOK[loop]
    return ours(experiment, metric, "leastload", FARM | changes)


def our_map(tasks_per_engine: int) -> Values:
    """The efficiency of ipyparallel with the scheme `leastload`."""
    experiment, metric, changes = NOTEBOOK["map"]
    return ours(experiment, metric, "leastload", FARM | changes | {"tasks_per_engine": tasks_per_engine})


def notebooks(loop: str, tasks_per_engine: int = TASKS_PER_ENGINE) -> Values:
    """The same by the notebook's loop."""
    points = next(value for value in NOTEBOOK[loop][2].values() if isinstance(value, list))
    counts = map(str, (ENGINES, tasks_per_engine, *points))
    command = [str(HERE / "notebook_loops.py"), loop, "leastload", *counts]
    return other(sys.executable, *command)


BRIEF = {"placements": ["node"], "budget_seconds": 3}
"""Launches with few cells need little time."""
LOCAL_BYTES = [100, 100_000, 1_000_000]
ARRAY_BYTES = [1_000, 1_000_000]
COLLECTIVE_ELEMENTS = [1, 100_000]
POOLS = (
    *("concurrent.futures", "multiprocessing.Pool", "joblib"),
    *("concurrent.futures chunk 8", "multiprocessing.Pool map", "ipyparallel map"),
)
POOL_TASKS = [128]


def our_local(arm: str, binding: str) -> Values:
    """Round trips between a process and its child on these cores, seconds."""
    rival = "Queue" if arm == "Pipe" else "Pipe"
    arms = {"arms": [arm, rival], "reference": arm, "ceilings": [], "patterns": ["round trips"]}
    changes = {"placements": ["process"], "sizes_bytes": LOCAL_BYTES, "bindings": [binding]}
    return ours("local_transport", "round trip", arm, BRIEF | arms | changes)


def our_array(arm: str) -> Values:
    """Round trips of an array over ZeroMQ, seconds."""
    arms = {"arms": [arm, "pickle out of band"], "reference": arm, "ceilings": []}
    changes = {"sizes_bytes": ARRAY_BYTES, "curves": ["REQ/REP over ipc, float64 array"]}
    return ours("array_transfer", "round trip", arm, BRIEF | arms | changes)


def our_coroutines() -> Values:
    """Round trips of coroutines over ZeroMQ, seconds."""
    changes = {"sizes_bytes": LOCAL_BYTES, "curves": ["REQ/REP over ipc"]}
    return ours("async_cost", "round trip", "asyncio", BRIEF | changes)


def our_collective(pattern: str, arm: str) -> Values:
    """Collective calls of two ranks, seconds."""
    changes = {"elements": COLLECTIVE_ELEMENTS, "patterns": [pattern], "ceilings": []}
    return ours("mpi_collectives", "call", arm, BRIEF | changes)


def our_pool(arm: str, prelude: str) -> Values:
    """Tasks/s of a pool of processes, with this prelude of each flood."""
    arms = {"arms": [arm, next(pool for pool in POOLS if pool != arm)], "reference": arm, "ceilings": []}
    return ours(
        "task_latency",
        "round trip",
        arm,
        BRIEF | arms | {"tasks": POOL_TASKS, "engines": ENGINES, "preludes": [prelude]},
    )


def manuals(program: str, *words: object, ranks: bool = False) -> Values:
    """The same by the loop of a library's manual."""
    start = RANKS if ranks else (sys.executable,)
    return other(*start, str(HERE / program), *map(str, words))


MANUALS: dict[str, tuple[str, Callable[[], Values], Callable[[], Values]]] = {
    **{
        f"round trip of {arm} to a child, cores {binding}": (
            "bytes",
            partial(our_local, arm, binding),
            partial(manuals, "plain_local.py", kind, binding, *LOCAL_BYTES),
        )
        for binding in ("own", "shared")
        for arm, kind in (
            *((way, way) for way in ("Pipe", "Pipe send", "Pipe one-way", "Queue")),
            *(("ZeroMQ ipc", "PAIR"), ("ZeroMQ ipc no-copy", "PAIR no-copy")),
        )
    },
    **{
        f"round trip of an array by {name}": (
            "bytes",
            partial(our_array, arm),
            partial(manuals, "plain_arrays.py", kind, *ARRAY_BYTES),
        )
        for name, arm, kind in (
            ("send_array", "header and buffer", "array"),
            ("send_array with msgpack", "header and buffer", "array msgpack"),
            ("send_pyobj", "pickle in band", "pyobj"),
            ("send_pyobj, ours with pickle 4", "pickle 4 in band", "pyobj"),
        )
    },
    "round trip of coroutines": ("bytes", our_coroutines, partial(manuals, "plain_async.py", *LOCAL_BYTES)),
    **{
        f"call of {kind}": (
            "elements",
            partial(our_collective, pattern, arm),
            partial(manuals, "plain_collectives.py", kind, *COLLECTIVE_ELEMENTS, ranks=True),
        )
        for kind, pattern, arm in (
            ("allreduce", "allreduce", "pickled"),
            ("Allreduce", "allreduce", "buffer"),
            ("bcast", "bcast", "pickled"),
            ("bcast in turn", "bcast", "pickled"),
            ("allgather", "allgather", "pickled"),
            ("Allgather", "allgather", "buffer"),
        )
    },
    **{
        f"tasks/s of {arm}, prelude {prelude}": (
            "tasks",
            partial(our_pool, arm, prelude),
            partial(manuals, "plain_pools.py", arm, ENGINES, prelude, *POOL_TASKS),
        )
        for prelude in ("pause", "none")
        for arm in POOLS
    },
}
"""Loops of libraries' manuals: the unit of the axis, ours, theirs."""

COMPARISONS: dict[str, tuple[str, Callable[[], Values], Callable[[], Values]]] = {
    "copy throughput over ipc, a plain loop / ours": ("bytes", partial(our_copy, PLAIN), plain_copy),
    "the same, the plain loop between two ranks / ours": ("bytes", partial(our_copy, PLAIN), plain_copy_in_ranks),
    "copy throughput over ipc, DEALER to ROUTER, pyzmq's script / ours": (
        "bytes",
        partial(our_copy, PUBLISHED),
        pyzmqs_throughput,
    ),
    "the same, pyzmq's script in processes that live on / ours": (
        "bytes",
        partial(our_copy, PUBLISHED),
        partial(pyzmqs_throughput, "--warm"),
    ),
    "copying round trip over ipc, pyzmq's script / ours": ("bytes", our_legacy, pyzmqs_latency),
    "round trip of send, a tutorial's loop / ours": (
        "elements",
        partial(our_re_sent, "send"),
        partial(tutorials, "send"),
    ),
    "round trip of Send, a tutorial's loop / ours": (
        "elements",
        partial(our_re_sent, "Send"),
        partial(tutorials, "Send"),
    ),
    "round trip of Send, mpi4py.bench / ours": ("elements", our_send, their_send),
    "the same, mpi4py.bench on arrays that were written to / ours": ("elements", our_send, their_send_written),
    "best round trip in C, mpi4py.bench on arrays that were written to / ours": (
        "elements",
        our_best_c,
        their_best_send,
    ),
    "tasks/s of ipyparallel, empty tasks, the notebook's loop / ours": (
        "tasks",
        partial(our_farm, "latency"),
        partial(notebooks, "latency"),
    ),
    "tasks/s of ipyparallel, tasks with arrays, the notebook's loop / ours": (
        "bytes",
        partial(our_farm, "throughput"),
        partial(notebooks, "throughput"),
    ),
    **{
        f"efficiency of ipyparallel, {count} tasks per engine, the notebook's loop / ours": (
            "µs",
            partial(our_map, count),
            partial(notebooks, "map", count),
        )
        for count in (TASKS_PER_ENGINE, 4)
    },
    **{f"{name}, the manual's loop / ours": (unit, mine, theirs) for name, (unit, mine, theirs) in MANUALS.items()},
}


def main() -> None:
    """Compare, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=8, help="measurements of each (default: %(default)s)")
    parser.add_argument("--only", default="", help="make only the comparisons with these words in their name")
    chosen = parser.parse_args()
    turns = chosen.turns
    comparisons = dict(COMPARISONS)
    if os.environ.get("NETPIPE") or shutil.which("NPmpich2"):
        comparisons["best round trip in C, NetPIPE / ours"] = ("elements", our_c_in_one_buffer, netpipe)
    if os.environ.get("LIBZMQ"):
        comparisons["messages/s over inproc in C, libzmq's own program / ours"] = (
            "bytes",
            partial(inproc, "ours"),
            partial(inproc, "theirs"),
        )
    for name, (unit, mine, theirs) in comparisons.items():
        if chosen.only not in name:
            continue
        taken = []
        for turn in range(turns):
            pair: dict[bool, Values] = {}
            for own in random.sample([True, False], 2):
                pair[own] = (mine if own else theirs)()
            taken.append(pair)
            print(f"{name}: turn {turn + 1} of {turns}", file=sys.stderr)
        print(name)
        for x in sorted(taken[0][True]):
            if x not in taken[0][False]:
                alone = statistics.median(pair[True][x] for pair in taken)
                print(f"  {x:>9,} {unit}: ours alone {alone:.4g}")
                continue
            logs = [math.log(pair[False][x] / pair[True][x]) for pair in taken]
            half = t.ppf(0.975, turns - 1) * statistics.stdev(logs) / math.sqrt(turns)
            low, middle, high = (math.exp(statistics.mean(logs) + step) for step in (-half, 0, half))
            absolute = [statistics.median(pair[own][x] for pair in taken) for own in (False, True)]
            print(f"  {x:>9,} {unit}: {middle:.3f} [{low:.3f}, {high:.3f}]   ({absolute[0]:.4g} / {absolute[1]:.4g})")


if __name__ == "__main__":
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    main()
