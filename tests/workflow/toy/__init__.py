"""A toy. Tests put its folder into a copy of the project."""

from crossover.design import kinds
from crossover.design.axis import Axis
from crossover.design.cell import Metric
from crossover.design.experiment import ANY, Experiment

METRICS = (Metric("pace", "turns/s", "higher"),)
ARMS = ("quick", "slow")

EXPERIMENT = Experiment(
    title="A toy",
    about="Spins.",
    subject="toy",
    action="spin",
    library="Toys",
    place=1,
    axis=Axis("weight", "grams"),
    metrics=METRICS,
    keys={"work": ANY},
    settings={
        "weights": kinds.axis("The axis.", [1, 10, 100]),
        "arms": kinds.arms("Pace.", ARMS, [*ARMS]),
        "reference": kinds.reference(ARMS, "quick"),
        "placements": kinds.placements(["node", "nodes"], ["node"]),
        **kinds.sampling(launches=2, block_seconds=0.0002, most_rounds=10, target_width=0.02, budget_seconds=1),
        **kinds.refinement(METRICS, default=0),
    },
)
