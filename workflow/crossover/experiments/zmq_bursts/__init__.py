"""Bursts of messages on a connection that is idle between them."""

from dataclasses import dataclass, replace
from typing import Annotated

from crossover.design import settings, zeromq
from crossover.design.cell import Axis, Metric
from crossover.design.experiments import ANY, Experiment
from crossover.design.protocol import TRANSPORTS

METRICS = (
    Metric("throughput", "messages/s", "higher"),
    Metric("send rate", "messages/s", "higher"),
    Metric("overstatement", "times", "lower"),
)
SIZES_BYTES = (100, 1000, 10000)


@dataclass(frozen=True, kw_only=True)
class Settings(zeromq.Handed):
    """Its settings."""

    messages: Annotated[settings.Points, "The axis, messages in a burst."]
    sizes_bytes: Annotated[
        tuple[settings.Count, ...],
        settings.MinLen(1),
        "Message sizes in bytes, one curve each. Bursts of more than `burst_bytes` are left out.",
    ]
    burst_bytes: Annotated[int, settings.Ge(1_000_000), "The most bytes in a burst."] = 256_000_000
    curves: Annotated[
        settings.Some,
        settings.Curves.labelled({**keys, "polled": False} for keys in zeromq.connections(["PUSH/PULL"])),
        "The sockets and the transport. Across hosts, ipc curves use tcp instead.",
    ] = ("PUSH/PULL over tcp", "PUSH/PULL over ipc")
    placements: Annotated[
        settings.Names,
        settings.OneOf(("node", "process", "nodes")),
        "Where the two ends are, as in `zmq_throughput`. With `[]` nothing is measured.",
    ]


QUICK = Settings(
    messages=settings.decades(1, 100_000, 1),
    sizes_bytes=SIZES_BYTES,
    arms=("copy", "no-copy"),
    placements=(),
    launches=3,
    block_seconds=0.05,
    rounds=settings.Rounds(at_most=200),
    target_width=0.02,
    budget_seconds=20,
)
STANDARD = replace(
    QUICK,
    placements=("node", "nodes"),
    target_width=0.01,
    **settings.AT_STANDARD,
)
PAPER = replace(
    STANDARD,
    messages=settings.decades(1, 1_000_000, 2),
    sizes_bytes=(*SIZES_BYTES, 100000),
    target_width=0.005,
    budget_seconds=120,
    **settings.AT_PAPER,
)
SMOKE = replace(QUICK, messages=(10, 1000), sizes_bytes=(1000,), placements=("node",), launches=1, budget_seconds=1)

EXPERIMENT = Experiment(
    title="ZeroMQ: bursts",
    about="PUSH sends bursts of messages to PULL, on a connection that is idle between bursts.",
    subject="ZeroMQ bursts",
    action="send bursts of ZeroMQ messages",
    library="ZeroMQ",
    place=30,
    default="copy",
    axis=Axis("burst", "messages"),
    metrics=METRICS,
    keys={"pattern": ["PUSH/PULL"], "transport": [*TRANSPORTS], "polled": [False], "message_bytes": ANY},
    tiers=settings.Tiers(SMOKE, QUICK, STANDARD, PAPER),
)
