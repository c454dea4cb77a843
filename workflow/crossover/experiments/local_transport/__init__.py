"""Bytes between two processes of one host: ZeroMQ, a pipe, a queue, shared memory, streams of asyncio."""

from dataclasses import dataclass, replace
from typing import Annotated

from crossover.design import advice, settings
from crossover.design.cell import Axis, Metric
from crossover.design.experiments import Experiment

METRICS = (Metric("round trip", "s", "lower"), Metric("throughput", "messages/s", "higher"))
WAYS = (
    *("ZeroMQ ipc", "ZeroMQ tcp", "Pipe", "Queue", "shared memory", "asyncio", "uvloop"),
    *("Pipe send", "Pipe one-way", "ZeroMQ ipc no-copy", "ZeroMQ tcp no-copy"),
)
PATTERNS = ("round trips", "stream")
CEILINGS = ("memcpy", "Unix socket in C")


@dataclass(frozen=True, kw_only=True)
class Settings(settings.Settings):
    """Its settings."""

    sizes_bytes: Annotated[settings.Points, "The axis, message sizes in bytes."]
    patterns: Annotated[
        settings.Some,
        settings.Curves.valued("pattern", PATTERNS),
        "`round trips`: the child sends each message back. `stream`: the child takes messages one after another, "
        "and confirms the last.",
    ] = PATTERNS
    bindings: settings.Bindings = ("own", "shared")
    arms: Annotated[
        settings.Arms,
        settings.OneOf(WAYS),
        "The ways. `ZeroMQ ipc` and `ZeroMQ tcp` are PAIR sockets, which copy; with `no-copy` they do not. `Pipe` and "
        "`Queue` are those of `multiprocessing`: `send_bytes` and `recv_bytes`, and `put` and `get` of a bytes object. "
        "`Pipe send` is `send` and `recv`, which pickle; `Pipe one-way` is a pair of pipes with `duplex=False`. "
        "`shared memory` copies into a `SharedMemory` block and out of it, with semaphores as turns. `asyncio` are "
        "streams over a Unix socket, in a running event loop at both ends. `uvloop` are the same streams on uvloop's "
        "event loop.",
    ] = WAYS
    reference: Annotated[str, settings.OneOf(of="arms"), settings.REFERENCE] = "ZeroMQ ipc"
    ceilings: Annotated[
        settings.Names,
        settings.OneOf(CEILINGS),
        "Bounds of the round trips. `memcpy` copies there and back within one process; `Unix socket in C` sends "
        "and receives in C. They need a C compiler; with `[]` nothing is built.",
    ] = CEILINGS
    placements: Annotated[
        settings.Some,
        settings.OneOf(("process",)),
        "Where the two ends are. `process`: a process and its child, on one host.",
    ] = ("process",)


QUICK = Settings(
    # A round of 10 MB would take as long as ten of the other sizes.
    sizes_bytes=settings.decades(100, 1_000_000, 1),
    launches=8,
    block_seconds=0.005,
    rounds=settings.Rounds(at_most=200),
    target_width=0.05,
    fewest_rounds=2,
    budget_seconds=5.5,
)
STANDARD = replace(
    QUICK,
    sizes_bytes=settings.decades(100, 10_000_000, 2),
    target_width=0.02,
    bindings=settings.BINDINGS,
    budget_seconds=20,
    **settings.AT_STANDARD,
)
PAPER = replace(
    STANDARD,
    sizes_bytes=settings.decades(10, 100_000_000, 3),
    target_width=0.01,
    budget_seconds=100,
    **settings.AT_PAPER,
)
SMOKE = replace(QUICK, sizes_bytes=(100, 1_000_000), launches=1, budget_seconds=1)

EXPERIMENT = Experiment(
    title="Bytes on one host",
    about="A process sends bytes to its child, by ZeroMQ or by one of the ways of Python's library.",
    subject="Bytes on one host",
    action="exchange bytes on one host",
    library="Between processes",
    place=100,
    default="Queue",
    synonyms={"shm": "shared memory", "shmem": "shared memory", "mmap": "shared memory"},
    axis=Axis("message size", "bytes"),
    metrics=METRICS,
    chosen_by={"round trip": "round trips", "throughput": "stream"},
    keys={"pattern": [*PATTERNS], "binding": [*settings.BINDINGS]},
    packages=("uvloop",),
    tiers=settings.Tiers(SMOKE, QUICK, STANDARD, PAPER),
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
