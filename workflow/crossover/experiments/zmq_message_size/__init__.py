"""Small messages on builds of libzmq whose message structs differ in size."""

from dataclasses import dataclass, replace
from typing import Annotated

from crossover.design import settings
from crossover.design.cell import Axis, Metric
from crossover.design.experiments import Experiment

METRICS = (Metric("throughput", "messages/s", "higher"), Metric("round trip", "s", "lower"))

BUILT = {
    "32 B struct": ["zmq_inproc", "libzmq-2.2.0-32"],
    "40 B struct": ["zmq_inproc", "libzmq-2.2.0-40"],
    "48 B struct": ["zmq_inproc", "libzmq-4.3.4-48"],
    "64 B struct": ["zmq_inproc", "libzmq-2.2.0-64", "libzmq-4.3.4-64"],
    "96 B struct": ["zmq_inproc", "libzmq-4.3.4-96"],
    "128 B struct": ["zmq_inproc", "libzmq-2.2.0-128", "libzmq-4.3.4-128"],
    "32 B packed union": ["zmq_inproc", "libzmq-2.2.0-32-packed"],
    "32 B aligned union": ["zmq_inproc", "libzmq-2.2.0-32-aligned"],
    "32 B union": ["zmq_inproc", "libzmq-2.2.0-32-union"],
    "64 B union": ["zmq_inproc", "libzmq-2.2.0-64-union"],
    "128 B union": ["zmq_inproc", "libzmq-2.2.0-128-union"],
}
"""The libraries of each arm: our driver, and builds of libzmq by version, bytes of the struct (40 and 64 are the
versions' own) and, if changed, layout (a union, as in the mail of 2010)."""

STRUCTS = [name for name in BUILT if name.endswith("struct")]
UNIONS = ["32 B union", "32 B packed union", "64 B union", "128 B union"]


@dataclass(frozen=True, kw_only=True)
class Settings(settings.Settings):
    """Its settings."""

    sizes_bytes: Annotated[
        settings.Points,
        "The axis, message sizes in bytes. The `paper` tier has the points of the mail of 2010, and smaller ones, "
        "which varied too much there.",
    ]
    scan_bytes: Annotated[
        int,
        settings.Ge(0),
        "How many sizes are added on either side of each build's inline limit, in steps of one byte.",
    ]
    arms: Annotated[
        settings.Arms,
        settings.OneOf(tuple(BUILT)),
        "Message structs, each a build of libzmq. 32 and 40 exist for 2.2, 48 and 96 for 4.3, 64 and 128 for both. "
        "As released, 2.2 has 40 and 4.3 has 64. The `union` builds of 2.2 are those of the mail of 2010: the "
        "message replaces the pointer, so that 24, 56 or 120 bytes fit. In the `packed union`, which has no "
        "padding, 30 bytes fit; in the `aligned union`, padded to 4 bytes, the 28 that the mail proposes.",
    ]
    reference: Annotated[
        str,
        settings.OneOf(("40 B struct", "64 B struct", "128 B struct")),
        f"{settings.REFERENCE} A version of the library without it is left out.",
    ] = "64 B struct"
    payloads: Annotated[
        settings.Some,
        settings.Curves.valued("payload", ("untouched", "touched")),
        "Whether the bytes of a message are written and read, one curve each. libzmq's own benchmarks leave them "
        "`untouched`.",
    ]
    patterns: Annotated[
        settings.Some,
        settings.Curves.valued("pattern", ("PUSH/PULL", "REQ/REP")),
        "What the threads do, one curve each. `PUSH/PULL` sends a flood and measures the throughput. `REQ/REP` "
        "sends a request and an answer and measures the round trip.",
    ]
    in_flight_bytes: Annotated[
        int,
        settings.Ge(1_000_000),
        "The most bytes in flight before a burst is drained. The sockets have no high-water mark, so that no send "
        "call blocks.",
    ] = 64_000_000
    placements: Annotated[
        settings.Names,
        settings.OneOf(("process",)),
        "Where the threads are. `process` puts both in one. With `[]` nothing is measured.",
    ]


QUICK = Settings(
    # Those of the mail, of which claims have means.
    sizes_bytes=(8, 16, 32, 64, 128, 256, 512, 1024),
    scan_bytes=1,
    # One version, of which two builds are compiled at once.
    arms=("40 B struct", "64 B union"),
    reference="40 B struct",
    payloads=("untouched",),
    patterns=("PUSH/PULL",),
    placements=("process",),
    launches=3,
    block_seconds=0.001,
    rounds=settings.Rounds(at_most=500),
    target_width=0.02,
    budget_seconds=2,
)
STANDARD = replace(
    QUICK,
    sizes_bytes=tuple(2**power for power in range(3, 16)),
    scan_bytes=2,
    arms=(*STRUCTS, *UNIONS),
    reference="64 B struct",
    patterns=("PUSH/PULL", "REQ/REP"),
    block_seconds=0.01,
    target_width=0.01,
    budget_seconds=20,
    **settings.AT_STANDARD,
)
PAPER = replace(
    STANDARD,
    sizes_bytes=tuple(2**power for power in range(16)),
    scan_bytes=4,
    arms=tuple(BUILT),
    payloads=("untouched", "touched"),
    target_width=0.005,
    budget_seconds=200,
    **settings.AT_PAPER,
)
SMOKE = replace(QUICK, arms=("40 B struct", "64 B struct", "96 B struct"), reference="64 B struct", launches=2)

EXPERIMENT = Experiment(
    title="ZeroMQ: the size of the message struct",
    about="Two threads of one process exchange small messages, on builds of libzmq 2.2 and 4.3 whose message structs "
    "hold more or fewer bytes inline.",
    subject="libzmq struct",
    action="pass ZeroMQ messages",
    library="ZeroMQ",
    place=40,
    axis=Axis("message size", "bytes"),
    metrics=METRICS,
    chosen_by={},
    keys={
        "library_version": ["2.2.0", "4.3.4"],
        "pattern": ["PUSH/PULL", "REQ/REP"],
        "transport": ["inproc"],
        "payload": ["untouched", "touched"],
    },
    tiers=settings.Tiers(SMOKE, QUICK, STANDARD, PAPER),
    built=BUILT,
)
