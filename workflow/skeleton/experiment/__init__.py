"""Bytes to another rank and back: as one message, or as two halves."""

from dataclasses import dataclass
from typing import Annotated

from crossover.design import settings
from crossover.design.cell import Axis, Metric
from crossover.design.experiment import Experiment

METRICS = (Metric("round trip", "s", "lower"),)
ARMS = ("whole", "halves")


@dataclass(frozen=True, kw_only=True)
class Settings(settings.Settings):
    """Its settings, besides those that all experiments have. `config/README.md` shows their texts."""

    sizes_bytes: Annotated[settings.Points, "The axis, message sizes in bytes."]
    arms: Annotated[
        settings.Arms,
        settings.OneOf(ARMS),
        "How many messages carry the bytes, one or two.",
    ] = ARMS
    reference: Annotated[str, settings.OneOf(of="arms"), settings.REFERENCE] = "whole"


QUICK = Settings(
    sizes_bytes=(100, 10_000, 1_000_000),
    launches=3,
    block_seconds=0.01,
    rounds=settings.Rounds(at_most=100),
    target_width=0.05,
    budget_seconds=5,
)

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
    tiers=settings.Tiers.of(QUICK),
)
