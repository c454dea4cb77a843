"""ZeroMQ messages sent and received by blocking calls, by a poller, and by coroutines on asyncio or uvloop."""

from crossover.design import advice, kinds
from crossover.design.axis import Axis
from crossover.design.cell import Metric
from crossover.design.experiment import Experiment
from crossover.design.families import zeromq
from crossover.design.protocol import TRANSPORTS

METRICS = (Metric("round trip", "s", "lower"), Metric("throughput", "messages/s", "higher"))
WAYS = ("blocking", "poller", "asyncio", "uvloop")
PLAIN = {"REQ/REP": "legacy", "PUSH/PULL": "polled"}
"""The patterns, each with the key that its curves also have in other experiments: a setting's name means one thing."""
KEYS = [keys for pattern, key in PLAIN.items() for keys in zeromq.connections([pattern], option=key) if not keys[key]]
CURVES = ["REQ/REP over ipc", "PUSH/PULL over ipc"]
MORE_CURVES = [*CURVES, "REQ/REP over tcp", "PUSH/PULL over tcp"]

EXPERIMENT = Experiment(
    title="ZeroMQ: the cost of asyncio",
    about="Messages are sent and received by blocking calls, after a poller, or by coroutines.",
    subject="ZeroMQ and asyncio",
    action="wait for ZeroMQ messages",
    library="ZeroMQ",
    place=46,
    asked=95,
    axis=Axis("message size", "bytes"),
    metrics=METRICS,
    chosen_by={"round trip": "round trips", "throughput": "stream"},
    keys={"pattern": [*PLAIN], "transport": [*TRANSPORTS], "legacy": [False], "polled": [False]},
    settings={
        "sizes_bytes": kinds.axis(
            "The axis, message sizes in bytes.",
            {
                "smoke": [100, 100_000],
                "quick": kinds.decades(100, 1_000_000, 1),
                "standard": kinds.decades(100, 1_000_000, 2),
                "paper": kinds.decades(10, 10_000_000, 3),
            },
        ),
        "curves": kinds.curves(
            "The sockets and the transport: REQ/REP are round trips, PUSH/PULL a stream. Across hosts, ipc curves use "
            "tcp instead.",
            KEYS,
            {"quick": CURVES, "standard": MORE_CURVES, "paper": MORE_CURVES},
        ),
        "arms": kinds.arms(
            "How both ends wait. `blocking` calls `send` and `recv`. `poller` asks a `zmq.Poller` before each call, "
            "which then does not wait. `asyncio` awaits the calls of `zmq.asyncio`, in one coroutine. `uvloop` is the "
            "same coroutine on the event loop of uvloop.",
            WAYS,
            [*WAYS],
        ),
        "reference": kinds.reference(WAYS, "blocking"),
        "placements": kinds.placements(
            ["node", "nodes"],
            {"smoke": ["node"], "quick": [], "standard": ["node", "nodes"], "paper": ["node", "nodes"]},
            fewest=0,
        ),
        **kinds.sampling(
            launches={"smoke": 2, "quick": 5, "standard": 12, "paper": 16},
            block_seconds=0.01,
            most_rounds=200,
            target_width={"quick": 0.03, "standard": 0.02, "paper": 0.01},
            budget_seconds={"smoke": 1, "quick": 4, "standard": 15, "paper": 60},
            fewest_rounds=kinds.FEW,
        ),
        **kinds.refinement(METRICS),
    },
    recommends=(
        advice.Setting(
            library="asyncio",
            name="event loop",
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
