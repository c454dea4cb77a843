"""Bursts of messages on a connection that is idle between them."""

from crossover.design import kinds
from crossover.design.axis import Axis
from crossover.design.cell import Metric
from crossover.design.experiment import ANY, Experiment
from crossover.design.families import zeromq
from crossover.design.protocol import TRANSPORTS

METRICS = (
    Metric("throughput", "messages/s", "higher"),
    Metric("send rate", "messages/s", "higher"),
    Metric("overstatement", "times", "lower"),
)
SIZES_BYTES = [100, 1000, 10000]

EXPERIMENT = Experiment(
    title="ZeroMQ: bursts",
    about="PUSH sends bursts of messages to PULL, on a connection that is idle between bursts.",
    subject="ZeroMQ bursts",
    action="send bursts of ZeroMQ messages",
    library="ZeroMQ",
    place=30,
    axis=Axis("burst", "messages"),
    metrics=METRICS,
    keys={"pattern": ["PUSH/PULL"], "transport": [*TRANSPORTS], "polled": [False], "message_bytes": ANY},
    settings={
        "messages": kinds.axis(
            "The axis, messages in a burst.",
            {
                "smoke": [10, 1000],
                "quick": kinds.decades(1, 100_000, 1),
                "standard": kinds.decades(1, 100_000, 1),
                "paper": kinds.decades(1, 1_000_000, 2),
            },
        ),
        "sizes_bytes": kinds.numbers(
            "Message sizes in bytes, one curve each. Bursts of more than `burst_bytes` are left out.",
            {"smoke": [1000], "quick": SIZES_BYTES, "standard": SIZES_BYTES, "paper": [*SIZES_BYTES, 100000]},
        ),
        "burst_bytes": kinds.whole("The most bytes in a burst.", 256_000_000, least=1_000_000),
        **zeromq.handovers(["copy", "no-copy"]),
        "curves": kinds.curves(
            "The sockets and the transport. Across hosts, ipc curves use tcp instead.",
            [{**keys, "polled": False} for keys in zeromq.connections(["PUSH/PULL"])],
            ["PUSH/PULL over tcp", "PUSH/PULL over ipc"],
        ),
        "placements": kinds.placements(
            ["node", "process", "nodes"],
            {"smoke": ["node"], "quick": [], "standard": ["node", "nodes"], "paper": ["node", "nodes"]},
            "Where the two ends are, as in `zmq_throughput`. With `[]` nothing is measured.",
            fewest=0,
        ),
        **kinds.sampling(
            launches={"smoke": 1, "quick": 3, "standard": 12, "paper": 16},
            block_seconds=0.05,
            most_rounds=200,
            target_width={"quick": 0.02, "standard": 0.01, "paper": 0.005},
            budget_seconds={"smoke": 1, "quick": 20, "standard": 20, "paper": 120},
            fewest_rounds=kinds.FEW,
        ),
        **kinds.refinement(METRICS),
    },
)
