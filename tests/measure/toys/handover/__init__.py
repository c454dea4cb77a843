"""Bytes to a child process."""

from dataclasses import dataclass, replace
from typing import Annotated

from crossover.design.cell import Axis, Metric
from crossover.design.experiments import Experiment
from crossover.design.settings import WHERE, Names, OneOf, Points, Rounds, Tiers
from crossover.design.settings import Settings as Common

WAYS = ("pipe", "socket pair", "shared memory")


@dataclass(frozen=True, kw_only=True)
class Settings(Common):
    sizes_bytes: Annotated[Points, "The axis, message sizes in bytes."] = (100, 100000)
    arms: Annotated[Names, OneOf(WAYS), "The ways."] = WAYS
    placements: Annotated[Names, OneOf(("process",)), WHERE] = ("process",)


QUICK = Settings(
    reference="pipe",
    launches=3,
    block_seconds=0.005,
    rounds=Rounds(at_most=100),
    target_width=0.05,
    budget_seconds=2,
)

EXPERIMENT = Experiment(
    title="Bytes to a child process",
    about="Bytes are handed to a child process, which answers each time.",
    subject="Bytes to a child",
    action="hand bytes to a child process",
    library="Python",
    place=1001,
    default="pipe",
    axis=Axis("message size", "bytes"),
    metrics=(Metric("handover", "s", "lower"),),
    keys={"object": ["bytes"]},
    tiers=Tiers(replace(QUICK, launches=1), QUICK, replace(QUICK, launches=5), replace(QUICK, launches=10)),
)
