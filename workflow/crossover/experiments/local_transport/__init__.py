"""Bytes between two processes of one host: ZeroMQ, a pipe, a queue, shared memory, streams of asyncio."""

from crossover.design import advice, kinds
from crossover.design.axis import Axis
from crossover.design.cell import Metric
from crossover.design.experiment import Experiment

METRICS = (Metric("round trip", "s", "lower"), Metric("throughput", "messages/s", "higher"))
WAYS = ("ZeroMQ ipc", "ZeroMQ tcp", "Pipe", "Queue", "shared memory", "asyncio", "uvloop")
PATTERNS = ("round trips", "stream")

EXPERIMENT = Experiment(
    title="Bytes between two processes of one host",
    about="A process sends bytes to its child, by ZeroMQ or by one of the ways of Python's library.",
    subject="Bytes on one host",
    action="exchange bytes on one host",
    library="Between processes",
    place=100,
    asked=40,
    axis=Axis("message size", "bytes"),
    metrics=METRICS,
    chosen_by={"round trip": "round trips", "throughput": "stream"},
    keys={"pattern": [*PATTERNS]},
    settings={
        "sizes_bytes": kinds.axis(
            "The axis, message sizes in bytes.",
            {
                "smoke": [100, 1_000_000],
                "quick": [100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000],
                "standard": kinds.decades(100, 10_000_000, 2),
                "paper": kinds.decades(10, 100_000_000, 3),
            },
        ),
        "patterns": kinds.values_of(
            "pattern",
            "`round trips`: the child sends each message back. `stream`: the child takes messages one after another, "
            "and confirms the last.",
            PATTERNS,
            [*PATTERNS],
        ),
        "arms": kinds.arms(
            "The ways. `ZeroMQ ipc` and `ZeroMQ tcp` are PAIR sockets, which copy. `Pipe` and `Queue` are those of "
            "`multiprocessing`: `send_bytes` and `recv_bytes`, and `put` and `get` of a bytes object. `shared memory` "
            "copies into a `SharedMemory` block and out of it, with semaphores as turns. `asyncio` are streams over a "
            "Unix socket, in a running event loop at both ends. `uvloop` are the same streams on uvloop's event loop.",
            WAYS,
            [*WAYS],
        ),
        "reference": kinds.reference(WAYS, "ZeroMQ ipc"),
        "ceilings": kinds.ceilings(
            "Bounds of the round trips. `memcpy` copies there and back within one process; `Unix socket in C` sends "
            "and receives in C. They need a C compiler; with `[]` nothing is built.",
            ["memcpy", "Unix socket in C"],
            ["memcpy", "Unix socket in C"],
        ),
        "placements": kinds.placements(
            ["process"], ["process"], "Where the two ends are. `process`: a process and its child, on one host."
        ),
        **kinds.sampling(
            launches={"smoke": 1, "quick": 4, "standard": 12, "paper": 16},
            block_seconds=0.01,
            most_rounds=200,
            target_width={"quick": 0.05, "standard": 0.02, "paper": 0.01},
            budget_seconds={"smoke": 1, "quick": 8, "standard": 20, "paper": 100},
            fewest_rounds=kinds.FEW,
        ),
        **kinds.refinement(METRICS),
    },
    built={"memcpy": ["memory_copy"], "Unix socket in C": ["stream_pingpong"]},
    recommends=(
        advice.Setting(
            library="multiprocessing",
            name="Pipe or Queue",
            about="the connection between two processes",
            default="Queue",
            values={"Pipe": "Pipe"},
            snippet="""\
import multiprocessing

ours, theirs = multiprocessing.Pipe()
ours.send_bytes(message)  # for other objects: send and recv
received = theirs.recv_bytes()
""",
        ),
    ),
)
