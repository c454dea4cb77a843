"""Round trips of single messages between a REQ and a REP socket, copied or zero-copy."""

from dataclasses import dataclass, replace
from typing import Annotated

from crossover.design import settings, zeromq
from crossover.design.cell import Axis, Metric
from crossover.design.experiments import Experiment, Rung
from crossover.design.protocol import TRANSPORTS

METRICS = (
    Metric("round trip", "s", "lower"),
    Metric("round trip, median", "s", "lower"),
    Metric("round trip, 95th percentile", "s", "lower"),
    Metric("round trip, 99th percentile", "s", "lower"),
)
EVERY_TRANSPORT = ("REQ/REP over tcp", "REQ/REP over ipc", "REQ/REP over inproc", "REQ/REP over ipc, legacy")
PLACEMENTS = ("node", "process", "nodes")


@dataclass(frozen=True, kw_only=True)
class Settings(zeromq.Handed):
    """Its settings."""

    sizes_bytes: Annotated[settings.Points, "The axis, sizes in bytes of request and answer."]
    curves: Annotated[
        settings.Some,
        settings.Curves.labelled(zeromq.connections(["REQ/REP"], option="legacy")),
        "The sockets and the transport. Each end sends a buffer of its own; with `legacy` it re-sends the received "
        "message instead, as pyzmq's own performance script does. `inproc` is measured in placement `process`, the "
        "other transports in the other placements. Across hosts, ipc curves use tcp instead.",
    ]
    bindings: settings.Bindings = ("own", "shared")
    ceilings: Annotated[
        settings.Names,
        settings.OneOf(("C",)),
        "Upper bounds for the arms, measured beside them. `C` is the same exchange in C on the same library, with "
        "a copy. It needs a C compiler; with `[]` nothing is built.",
    ] = ("C",)
    trips_per_repetition: Annotated[
        int,
        settings.Ge(100),
        "Round trips in one repetition. Even the shortest block has this many, enough for its percentiles.",
    ] = 100
    placements: Annotated[settings.Some, settings.OneOf(PLACEMENTS), settings.WHERE]


QUICK = Settings(
    sizes_bytes=settings.decades(100, 1_000_000, 1),
    arms=("copy", "no-copy"),
    curves=("REQ/REP over tcp", "REQ/REP over ipc", "REQ/REP over ipc, legacy"),
    placements=("node", "nodes"),
    launches=3,
    block_seconds=0.01,
    rounds=settings.Rounds(at_most=200),
    target_width=0.02,
    fewest_rounds=2,
    budget_seconds=3.5,
)
STANDARD = replace(
    QUICK,
    sizes_bytes=settings.decades(100, 1_000_000, 3),
    arms=zeromq.HANDOVERS,
    curves=EVERY_TRANSPORT,
    bindings=settings.BINDINGS,
    placements=PLACEMENTS,
    target_width=0.01,
    budget_seconds={"node": 20, "process": 6, "nodes": 20},
    **settings.AT_STANDARD,
)
PAPER = replace(
    STANDARD,
    sizes_bytes=settings.decades(100, 10_000_000, 3),
    target_width=0.005,
    budget_seconds={"node": 100, "process": 50, "nodes": 100},
    **settings.AT_PAPER,
)
SMOKE = replace(QUICK, sizes_bytes=(100, 10000, 1000000), launches=2, budget_seconds=2)

EXPERIMENT = Experiment(
    title="ZeroMQ: round trips",
    about="A REQ socket sends a request to a REP socket and waits for the answer.",
    subject="ZeroMQ round trip",
    action="exchange ZeroMQ messages",
    library="ZeroMQ",
    place=20,
    default="copy",
    axis=Axis("message size", "bytes"),
    metrics=METRICS,
    leading_metric="round trip, median",
    keys={"pattern": ["REQ/REP"], "transport": [*TRANSPORTS], "legacy": [False, True], "binding": [*settings.BINDINGS]},
    tiers=settings.Tiers(SMOKE, QUICK, STANDARD, PAPER),
    built={"C": ["zmq_pingpong"]},
    rungs=tuple(
        Rung(place, name, arm, {"pattern": "REQ/REP", "legacy": False, "transport": "ipc"})
        for place, name, arm in ((70, "ZeroMQ in C", "C"), (80, "pyzmq", "copy"))
    ),
)
