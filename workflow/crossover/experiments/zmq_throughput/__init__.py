"""A flood of messages from one socket to another, copied or zero-copy."""

from dataclasses import dataclass, replace
from typing import Annotated

from crossover.design import advice, settings, zeromq
from crossover.design.cell import Axis, Metric
from crossover.design.experiments import ANY, Experiment
from crossover.design.protocol import TRANSPORTS, label

METRICS = (
    Metric("throughput", "messages/s", "higher"),
    Metric("bandwidth", "MB/s", "higher"),
    Metric("send rate", "messages/s", "higher"),
    Metric("overstatement", "times", "lower"),
    Metric("peak memory", "MB", "lower"),
)
CONNECTIONS = zeromq.connections(("PUSH/PULL", "DEALER/ROUTER"), option="polled")
BOTH = ("C copy", "C no-copy")
PLACEMENTS = ("node", "process", "nodes")
PYZMQ_THRESHOLD_BYTES = 65536
"""`zmq.COPY_THRESHOLD` as shipped with pyzmq."""

THRESHOLD = """\
socket.copy_threshold = {value}  # bytes; for all later sockets: zmq.COPY_THRESHOLD = {value}
socket.send(message, copy=False)  # lends from that size on, copies below
"""

SHIPPED = """\
socket.send(message, copy=False)  # pyzmq's own copy_threshold = {value} stays
"""


@dataclass(frozen=True, kw_only=True)
class Settings(zeromq.Handed):
    """Its settings."""

    sizes_bytes: Annotated[settings.Points, "The axis, message sizes in bytes."]
    curves: Annotated[
        settings.Some,
        settings.Curves.labelled(CONNECTIONS),
        "The sockets and the transport. `polled` polls the socket before each call. `DEALER/ROUTER` is what "
        "pyzmq's own performance script uses, whose numbers were published. `inproc` is measured in placement "
        "`process`, the other transports in the other placements. Across hosts, ipc curves use tcp instead.",
    ]
    ceilings: Annotated[
        settings.Names,
        settings.OneOf(BOTH),
        "Upper bounds for the arms of PUSH/PULL, measured beside them: the same flood in C on the same library, "
        "with or without a copy. They need a C compiler; with `[]` nothing is built.",
    ]
    lead_in_seconds: Annotated[
        settings.Seconds,
        "How long a stream from PUSH to PULL flows before it is timed. The first milliseconds are slower than the "
        "rest, for some arms more than for others.",
    ]
    in_flight_messages: Annotated[
        int,
        settings.Ge(4),
        "The most messages of a stream from PUSH to PULL in flight. ZeroMQ's default high-water marks allow 2,000, "
        "half of them at either end. The sockets here have no high-water mark, so that no send call waits.",
    ] = 2000
    in_flight_bytes: Annotated[
        int, settings.Ge(1_000_000), "The most bytes of a stream from PUSH to PULL in flight."
    ] = 64_000_000
    burst_seconds: Annotated[
        settings.Seconds,
        "The shortest time of a block of DEALER/ROUTER. pyzmq's script counts for one to three seconds.",
    ]
    burst_bytes: Annotated[
        int,
        settings.Ge(1_000_000),
        "The most bytes in a burst from DEALER to ROUTER; a block with more bytes has several bursts. pyzmq's "
        "script has no such bound.",
    ]
    placements: Annotated[settings.Some, settings.OneOf(PLACEMENTS), settings.WHERE] = PLACEMENTS


QUICK = Settings(
    sizes_bytes=settings.decades(100, 1_000_000, 1),
    arms=("copy", "no-copy"),
    curves=("PUSH/PULL over tcp", "PUSH/PULL over ipc", "PUSH/PULL over inproc", "DEALER/ROUTER over ipc"),
    ceilings=BOTH[:1],
    lead_in_seconds=0.02,
    burst_seconds=0.15,
    burst_bytes=512_000_000,
    launches=4,
    block_seconds=0.03,
    rounds=settings.Rounds(at_most=200),
    target_width=0.02,
    fewest_rounds=2,
    budget_seconds={"node": 9.5, "process": 3.2, "nodes": 11.5},
)
STANDARD = replace(
    QUICK,
    sizes_bytes=settings.decades(100, 1_000_000, 3),
    arms=zeromq.HANDOVERS,
    curves=(
        *("PUSH/PULL over tcp", "PUSH/PULL over ipc", "PUSH/PULL over inproc"),
        *("PUSH/PULL over ipc, polled", "DEALER/ROUTER over ipc", "DEALER/ROUTER over ipc, polled"),
    ),
    ceilings=BOTH,
    lead_in_seconds=0.03,
    block_seconds=0.05,
    target_width=0.01,
    budget_seconds={"node": 40, "process": 10, "nodes": 40},
    **settings.AT_STANDARD,
)
PAPER = replace(
    STANDARD,
    # The published points.
    sizes_bytes=(
        *(100, 215, 464, 1000, 2154, 4641, 10000, 14677, 21544, 31622, 46415, 68129),
        *(100000, 215443, 464158, 1000000, 3162277, 10000000),
    ),
    curves=tuple(label(keys) for keys in CONNECTIONS),
    burst_seconds=1,
    burst_bytes=2_000_000_000,
    block_seconds=0.1,
    target_width=0.005,
    budget_seconds={"node": 500, "process": 250, "nodes": 500},
    **settings.AT_PAPER,
)
SMOKE = replace(
    QUICK,
    sizes_bytes=(100, 10000, 1000000),
    burst_seconds=0.05,
    launches=2,
    block_seconds=0.03,
    budget_seconds={"node": 5, "process": 1, "nodes": 5},
)

EXPERIMENT = Experiment(
    title="ZeroMQ: copying or zero-copy",
    about="A flood of messages from one socket to another, in another process or another thread.",
    subject="ZeroMQ stream",
    action="stream ZeroMQ messages",
    library="ZeroMQ",
    place=10,
    default="copy",
    synonyms={"zmq": "ZeroMQ", "0mq": "ZeroMQ", "pyzmq": "ZeroMQ", "zero-copy": "no-copy", "zero copy": "no-copy"},
    axis=Axis("message size", "bytes"),
    metrics=METRICS,
    keys={
        "pattern": ["PUSH/PULL", "DEALER/ROUTER"],
        "transport": [*TRANSPORTS],
        "polled": [False, True],
        "window_messages": ANY,
        "window_bytes": ANY,
        "burst_seconds": ANY,
    },
    tiers=settings.Tiers(SMOKE, QUICK, STANDARD, PAPER),
    built={name: ["zmq_push_pull"] for name in BOTH},
    recommends=(
        advice.Setting(
            library="pyzmq",
            name="copy_threshold",
            about="the size from which on `send(copy=False)` lends a message instead of copying it",
            default="copy",
            values={"default": PYZMQ_THRESHOLD_BYTES, "no-copy": 0},
            snippet={"default": SHIPPED, "no-copy": THRESHOLD},
            beyond={"no-copy": THRESHOLD},
            program_wide=True,
        ),
    ),
)
