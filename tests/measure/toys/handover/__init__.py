"""Bytes to a child process."""

from crossover.design import kinds
from crossover.design.axis import Axis
from crossover.design.cell import Metric
from crossover.design.experiment import Experiment

WAYS = ("pipe", "socket pair", "shared memory")

EXPERIMENT = Experiment(
    title="Bytes to a child process",
    about="Bytes are handed to a child process, which answers each time.",
    subject="Bytes to a child",
    action="hand bytes to a child process",
    library="Python",
    place=1001,
    axis=Axis("message size", "bytes"),
    metrics=(Metric("handover", "s", "lower"),),
    keys={"object": ["bytes"]},
    settings={
        "sizes_bytes": kinds.axis("The axis, message sizes in bytes.", [100, 100000]),
        "arms": kinds.arms("The ways.", WAYS, [*WAYS]),
        "reference": kinds.reference(WAYS, "pipe"),
        "placements": kinds.placements(["process"], ["process"]),
        **kinds.sampling(
            launches={"smoke": 1, "quick": 3, "standard": 5, "paper": 10},
            block_seconds=0.005,
            most_rounds=100,
            target_width=0.05,
            budget_seconds=2,
        ),
    },
)
