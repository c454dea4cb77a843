"""Round trips of single messages between a REQ and a REP socket, copied or zero-copy."""

from crossover.design import kinds
from crossover.design.axis import Axis
from crossover.design.cell import Metric
from crossover.design.experiment import Experiment, Rung
from crossover.design.families import zeromq
from crossover.design.protocol import TRANSPORTS

METRICS = (
    Metric("round trip", "s", "lower"),
    Metric("round trip, median", "s", "lower"),
    Metric("round trip, 95th percentile", "s", "lower"),
    Metric("round trip, 99th percentile", "s", "lower"),
)
EVERY_TRANSPORT = ["REQ/REP over tcp", "REQ/REP over ipc", "REQ/REP over inproc", "REQ/REP over ipc, legacy"]
PLACEMENTS = ["node", "process", "nodes"]

EXPERIMENT = Experiment(
    title="ZeroMQ: round trips",
    about="A REQ socket sends a request to a REP socket and waits for the answer.",
    subject="ZeroMQ round trip",
    action="exchange ZeroMQ messages",
    library="ZeroMQ",
    place=20,
    asked=30,
    axis=Axis("message size", "bytes"),
    metrics=METRICS,
    keys={"pattern": ["REQ/REP"], "transport": [*TRANSPORTS], "legacy": [False, True]},
    settings={
        "sizes_bytes": kinds.axis(
            "The axis, sizes in bytes of request and answer.",
            {
                "smoke": [100, 10000, 1000000],
                "quick": kinds.decades(100, 1_000_000, 1),
                "standard": kinds.decades(100, 1_000_000, 3),
                "paper": kinds.decades(100, 10_000_000, 3),
            },
        ),
        **zeromq.handovers(
            {"quick": ["copy", "no-copy"], "standard": [*zeromq.HANDOVERS], "paper": [*zeromq.HANDOVERS]}
        ),
        "curves": kinds.curves(
            "The sockets and the transport. Each end sends a buffer of its own; with `legacy` it re-sends the received "
            "message instead, as pyzmq's own performance script does. `inproc` is measured in placement `process`, the "
            "other transports in the other placements. Across hosts, ipc curves use tcp instead.",
            zeromq.connections(["REQ/REP"], option="legacy"),
            {
                "quick": ["REQ/REP over ipc", "REQ/REP over ipc, legacy"],
                "standard": EVERY_TRANSPORT,
                "paper": EVERY_TRANSPORT,
            },
        ),
        "ceilings": kinds.ceilings(
            "Upper bounds for the arms, measured beside them. `C` is the same exchange in C on the same library, with "
            "a copy. It needs a C compiler; with `[]` nothing is built.",
            ["C"],
            ["C"],
        ),
        "trips_per_repetition": kinds.whole(
            "Round trips in one repetition. Even the shortest block has this many, enough for its percentiles.",
            100,
            least=100,
        ),
        "placements": kinds.placements(
            PLACEMENTS, {"quick": ["node", "nodes"], "standard": PLACEMENTS, "paper": PLACEMENTS}
        ),
        **kinds.sampling(
            launches={"smoke": 2, "quick": 6, "standard": 12, "paper": 16},
            block_seconds=0.01,
            most_rounds=200,
            target_width={"quick": 0.02, "standard": 0.01, "paper": 0.005},
            budget_seconds={
                "smoke": 2,
                "quick": 4,
                "standard": {"node": 20, "process": 6, "nodes": 20},
                "paper": {"node": 100, "process": 50, "nodes": 100},
            },
            fewest_rounds=kinds.FEW,
        ),
        **kinds.refinement(METRICS, leading="round trip, median"),
    },
    built={"C": ["zmq_pingpong"]},
    rungs=tuple(
        Rung(place, name, arm, {"pattern": "REQ/REP", "legacy": False, "transport": "ipc"})
        for place, name, arm in ((70, "ZeroMQ in C", "C"), (80, "pyzmq", "copy"))
    ),
)
