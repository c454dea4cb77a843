"""A flood of messages from one socket to another, copied or zero-copy."""

from crossover.design import advice, kinds
from crossover.design.axis import Axis
from crossover.design.cell import Metric
from crossover.design.experiment import ANY, Experiment
from crossover.design.families import zeromq
from crossover.design.protocol import TRANSPORTS, label

METRICS = (
    Metric("throughput", "messages/s", "higher"),
    Metric("bandwidth", "MB/s", "higher"),
    Metric("send rate", "messages/s", "higher"),
    Metric("overstatement", "times", "lower"),
    Metric("peak memory", "MB", "lower"),
)
CONNECTIONS = zeromq.connections(("PUSH/PULL", "DEALER/ROUTER"), option="polled")
COPY, BOTH = ["C copy"], ["C copy", "C no-copy"]
PYZMQ_THRESHOLD_BYTES = 65536
"""`zmq.COPY_THRESHOLD` as shipped with pyzmq."""

THRESHOLD = """\
socket.copy_threshold = {value}  # bytes; for all later sockets: zmq.COPY_THRESHOLD = {value}
socket.send(message, copy=False)  # lends from that size on, copies below
"""

EXPERIMENT = Experiment(
    title="ZeroMQ: copying or zero-copy",
    about="A flood of messages from one socket to another, in another process or another thread.",
    subject="ZeroMQ stream",
    action="stream ZeroMQ messages",
    library="ZeroMQ",
    place=10,
    asked=20,
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
    settings={
        "sizes_bytes": kinds.axis(
            "The axis, message sizes in bytes.",
            {
                "smoke": [100, 10000, 1000000],
                "quick": kinds.decades(100, 1_000_000, 1),
                "standard": kinds.decades(100, 1_000_000, 3),
                # The published points.
                "paper": [
                    *(100, 215, 464, 1000, 2154, 4641, 10000, 14677, 21544, 31622, 46415, 68129),
                    *(100000, 215443, 464158, 1000000, 3162277, 10000000),
                ],
            },
        ),
        **zeromq.handovers(
            {"quick": ["copy", "no-copy"], "standard": [*zeromq.HANDOVERS], "paper": [*zeromq.HANDOVERS]}
        ),
        "curves": kinds.curves(
            "The sockets and the transport. `polled` polls the socket before each call. `DEALER/ROUTER` is what "
            "pyzmq's own performance script uses, whose numbers were published. `inproc` is measured in placement "
            "`process`, the other transports in the other placements. Across hosts, ipc curves use tcp instead.",
            CONNECTIONS,
            {
                "quick": [
                    *("PUSH/PULL over tcp", "PUSH/PULL over ipc", "PUSH/PULL over inproc"),
                    "DEALER/ROUTER over ipc",
                ],
                "standard": [
                    *("PUSH/PULL over tcp", "PUSH/PULL over ipc", "PUSH/PULL over inproc"),
                    *("PUSH/PULL over ipc, polled", "DEALER/ROUTER over ipc", "DEALER/ROUTER over ipc, polled"),
                ],
                "paper": [label(keys) for keys in CONNECTIONS],
            },
        ),
        "ceilings": kinds.ceilings(
            "Upper bounds for the arms of PUSH/PULL, measured beside them: the same flood in C on the same library, "
            "with or without a copy. They need a C compiler; with `[]` nothing is built.",
            BOTH,
            {"quick": COPY, "standard": BOTH, "paper": BOTH},
        ),
        "lead_in_seconds": kinds.number(
            "How long a stream from PUSH to PULL flows before it is timed. The first milliseconds are slower than the "
            "rest, for some arms more than for others.",
            {"quick": 0.02, "standard": 0.03, "paper": 0.03},
        ),
        "in_flight_messages": kinds.whole(
            "The most messages of a stream from PUSH to PULL in flight. ZeroMQ's default high-water marks allow 2,000, "
            "half of them at either end. The sockets here have no high-water mark, so that no send call waits.",
            2000,
            least=4,
        ),
        "in_flight_bytes": kinds.whole(
            "The most bytes of a stream from PUSH to PULL in flight.", 64_000_000, least=1_000_000
        ),
        "burst_seconds": kinds.number(
            "The shortest time of a block of DEALER/ROUTER. pyzmq's script counts for one to three seconds.",
            {"smoke": 0.05, "quick": 0.15, "standard": 0.15, "paper": 1},
        ),
        "burst_bytes": kinds.whole(
            "The most bytes in a burst from DEALER to ROUTER; a block with more bytes has several bursts. pyzmq's "
            "script has no such bound.",
            {"quick": 512_000_000, "standard": 512_000_000, "paper": 2_000_000_000},
            least=1_000_000,
        ),
        "placements": kinds.placements(["node", "process", "nodes"], ["node", "process", "nodes"]),
        **kinds.sampling(
            launches={"smoke": 2, "quick": 4, "standard": 12, "paper": 16},
            block_seconds={"smoke": 0.03, "quick": 0.05, "standard": 0.05, "paper": 0.1},
            most_rounds=200,
            target_width={"quick": 0.02, "standard": 0.01, "paper": 0.005},
            budget_seconds={
                "smoke": {"node": 5, "process": 1, "nodes": 5},
                "quick": {"node": 11, "process": 3.5, "nodes": 13},
                "standard": {"node": 40, "process": 10, "nodes": 40},
                "paper": {"node": 500, "process": 250, "nodes": 500},
            },
            fewest_rounds=kinds.FEW,
        ),
        **kinds.refinement(METRICS),
    },
    built={name: ["zmq_push_pull"] for name in BOTH},
    recommends=(
        advice.Setting(
            library="pyzmq",
            name="copy_threshold",
            about="the size from which on `send(copy=False)` lends a message instead of copying it",
            default="copy",
            values={"default": PYZMQ_THRESHOLD_BYTES, "no-copy": 0},
            snippet=THRESHOLD,
            beyond={"no-copy": THRESHOLD},
        ),
    ),
)
