"""Bytes to another rank and back: as one message, or as two halves."""

from crossover.design import kinds
from crossover.design.axis import Axis
from crossover.design.cell import Metric
from crossover.design.experiment import Experiment

METRICS = (Metric("round trip", "s", "lower"),)
ARMS = ("whole", "halves")

EXPERIMENT = Experiment(
    title="Bytes as one message or as two",
    about="Bytes go to another process and back, as one message or as two halves.",
    subject="Bytes, halved",
    action="send bytes",
    library="Other experiments",
    place=1000,
    axis=Axis("message size", "bytes"),
    metrics=METRICS,
    keys={"object": ["bytes"]},
    settings={
        "sizes_bytes": kinds.axis(
            "The axis, message sizes in bytes.",
            {
                "smoke": [100, 10_000],
                "quick": [100, 10_000, 1_000_000],
                "standard": kinds.decades(100, 1_000_000, 2),
                "paper": kinds.decades(100, 1_000_000, 3),
            },
        ),
        "arms": kinds.arms("How many messages carry the bytes, one or two.", ARMS, [*ARMS]),
        "reference": kinds.reference(ARMS, "whole"),
        "placements": kinds.placements(["node", "nodes"], ["node", "nodes"]),
        **kinds.sampling(
            launches={"smoke": 1, "quick": 3, "standard": 12, "paper": 16},
            block_seconds=0.01,
            most_rounds=100,
            target_width={"quick": 0.05, "standard": 0.02, "paper": 0.01},
            budget_seconds={"smoke": 1, "quick": 5, "standard": 10, "paper": 60},
            fewest_rounds=kinds.FEW,
        ),
        **kinds.refinement(METRICS),
    },
)
