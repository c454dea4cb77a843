"""Bytes to another rank and back: as one message, or as two halves."""

from dataclasses import dataclass, replace
from typing import Annotated

from annotated_types import MinLen

from crossover.design.cell import Axis, Metric
from crossover.design.experiment import Experiment
from crossover.design.settings import REFERENCE, Names, OneOf, Points, Refined, Rounds, Tiers, decades

METRICS = (Metric("round trip", "s", "lower"),)
ARMS = ("whole", "halves")


@dataclass(frozen=True, kw_only=True)
class Settings(Refined):
    """Its settings, besides those that all experiments have. `config/README.md` shows their texts."""

    sizes_bytes: Annotated[Points, "The axis, message sizes in bytes."]
    arms: Annotated[Names, OneOf(ARMS), MinLen(2), "How many messages carry the bytes, one or two."] = ARMS
    reference: Annotated[str, OneOf(of="arms"), REFERENCE] = "whole"


QUICK = Settings(
    sizes_bytes=(100, 10_000, 1_000_000),
    launches=3,
    block_seconds=0.01,
    rounds=Rounds(at_most=100),
    target_width=0.05,
    budget_seconds=5,
    refine_metric="round trip",
)
STANDARD = replace(
    QUICK,
    sizes_bytes=decades(100, 1_000_000, 2),
    launches=12,
    fewest_rounds=1,
    target_width=0.02,
    budget_seconds=10,
    refine_points=3,
)
PAPER = replace(
    STANDARD,
    sizes_bytes=decades(100, 1_000_000, 3),
    launches=16,
    target_width=0.01,
    budget_seconds=60,
    refine_points=5,
)
SMOKE = replace(QUICK, sizes_bytes=(100, 10_000), launches=1, budget_seconds=1)

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
    tiers=Tiers(SMOKE, QUICK, STANDARD, PAPER),
)
