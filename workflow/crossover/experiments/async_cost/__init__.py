"""ZeroMQ messages sent and received by blocking calls, by a poller, and by coroutines on asyncio or uvloop."""

from dataclasses import dataclass, replace
from typing import Annotated

from crossover.design import advice, settings, zeromq
from crossover.design.cell import Axis, Metric
from crossover.design.experiments import Experiment
from crossover.design.protocol import TRANSPORTS

METRICS = (Metric("round trip", "s", "lower"), Metric("throughput", "messages/s", "higher"))
WAYS = ("blocking", "poller", "asyncio", "uvloop")
PLAIN = {"REQ/REP": "legacy", "PUSH/PULL": "polled"}
"""The patterns, each with the key that its curves also have in other experiments: a setting's name means one thing."""
KEYS = [keys for pattern, key in PLAIN.items() for keys in zeromq.connections([pattern], option=key) if not keys[key]]
CURVES = ("REQ/REP over ipc", "PUSH/PULL over ipc")
MORE_CURVES = (*CURVES, "REQ/REP over tcp", "PUSH/PULL over tcp")


@dataclass(frozen=True, kw_only=True)
class Settings(zeromq.Connected):
    """Its settings."""

    sizes_bytes: Annotated[settings.Points, "The axis, message sizes in bytes."]
    curves: Annotated[
        settings.Some,
        settings.Curves.labelled(KEYS),
        "The sockets and the transport: REQ/REP are round trips, PUSH/PULL a stream. Across hosts, ipc curves use "
        "tcp instead.",
    ]
    bindings: settings.Bindings = ("own", "shared")
    arms: Annotated[
        settings.Arms,
        settings.OneOf(WAYS),
        "How both ends wait. `blocking` calls `send` and `recv`. `poller` asks a `zmq.Poller` before each call, "
        "which then does not wait. `asyncio` awaits the calls of `zmq.asyncio`, in one coroutine. `uvloop` is the "
        "same coroutine on the event loop of uvloop.",
    ] = WAYS
    reference: Annotated[str, settings.OneOf(of="arms"), settings.REFERENCE] = "blocking"
    placements: Annotated[
        settings.Names, settings.OneOf(("node", "nodes")), f"{settings.WHERE} With `[]` nothing is measured."
    ]


QUICK = Settings(
    sizes_bytes=settings.decades(100, 1_000_000, 1),
    curves=CURVES,
    placements=(),
    launches=5,
    block_seconds=0.01,
    rounds=settings.Rounds(at_most=200),
    target_width=0.03,
    budget_seconds=4,
)
STANDARD = replace(
    QUICK,
    sizes_bytes=settings.decades(100, 1_000_000, 2),
    curves=MORE_CURVES,
    bindings=settings.BINDINGS,
    placements=("node", "nodes"),
    target_width=0.02,
    budget_seconds=15,
    **settings.AT_STANDARD,
)
PAPER = replace(
    STANDARD,
    sizes_bytes=settings.decades(10, 10_000_000, 3),
    target_width=0.01,
    budget_seconds=60,
    **settings.AT_PAPER,
)
SMOKE = replace(QUICK, sizes_bytes=(100, 100_000), placements=("node",), launches=2, budget_seconds=1)

EXPERIMENT = Experiment(
    title="ZeroMQ: the cost of asyncio",
    about="Messages are sent and received by blocking calls, after a poller, or by coroutines.",
    subject="ZeroMQ and asyncio",
    action="wait for ZeroMQ messages",
    library="ZeroMQ",
    place=46,
    default="blocking",
    axis=Axis("message size", "bytes"),
    metrics=METRICS,
    chosen_by={"round trip": "round trips", "throughput": "stream"},
    keys={
        **{"pattern": [*PLAIN], "transport": [*TRANSPORTS], "legacy": [False], "polled": [False]},
        "binding": [*settings.BINDINGS],
    },
    packages=("uvloop",),
    tiers=settings.Tiers(SMOKE, QUICK, STANDARD, PAPER),
    recommends=(
        advice.Setting(
            library="asyncio",
            name="event loop",
            program_wide=True,
            about="the loop that runs coroutines",
            default="asyncio",
            values={"uvloop": "uvloop"},
            snippet="""\
import uvloop

uvloop.run(main())  # instead of asyncio.run
""",
        ),
    ),
)
