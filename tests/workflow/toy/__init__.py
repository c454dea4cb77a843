"""A toy. Tests put its folder into a copy of the project."""

from dataclasses import dataclass
from typing import Annotated

from crossover.design.cell import Axis, Metric
from crossover.design.experiments import ANY, Experiment
from crossover.design.settings import REFERENCE, WHERE, MinLen, Names, OneOf, Points, Rounds, Tiers
from crossover.design.settings import Settings as Common

METRICS = (Metric("pace", "turns/s", "higher"),)
ARMS = ("quick", "slow")


@dataclass(frozen=True, kw_only=True)
class Settings(Common):
    """Its settings."""

    weights: Annotated[Points, "The axis."] = (1, 10, 100)
    arms: Annotated[Names, OneOf(ARMS), MinLen(2), "Pace."] = ARMS
    reference: Annotated[str, OneOf(of="arms"), REFERENCE] = "quick"
    placements: Annotated[Names, OneOf(("node", "nodes")), MinLen(1), WHERE] = ("node",)


QUICK = Settings(
    launches=2,
    block_seconds=0.0002,
    rounds=Rounds(at_most=10),
    target_width=0.02,
    budget_seconds=1,
)

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
    tiers=Tiers(QUICK, QUICK, QUICK, QUICK),
)
