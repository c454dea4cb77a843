"""Round trips between REQ and REP of ZeroMQ and of nng."""

from dataclasses import dataclass
from typing import Annotated

from crossover.design import settings
from crossover.design.cell import Axis, Metric
from crossover.design.experiment import Experiment

ARMS = ("pyzmq", "pynng")


@dataclass(frozen=True, kw_only=True)
class Settings(settings.Settings):
    """Its settings."""

    sizes_bytes: Annotated[settings.Points, "The axis, message sizes in bytes."]
    arms: Annotated[settings.Arms, settings.OneOf(ARMS), "The libraries, each with its default calls."] = ARMS
    reference: Annotated[str, settings.OneOf(of="arms"), settings.REFERENCE] = "pyzmq"


QUICK = Settings(
    sizes_bytes=(100, 10_000, 1_000_000),
    placements=("node",),
    launches=3,
    block_seconds=0.01,
    rounds=settings.Rounds(at_most=100),
    target_width=0.05,
    budget_seconds=5,
)

EXPERIMENT = Experiment(
    title="REQ and REP of two libraries",
    about="A REQ socket sends a request to a REP socket and waits for the answer, by ZeroMQ or by nng.",
    subject="REQ and REP",
    action="exchange messages",
    library="Other experiments",
    place=1000,
    axis=Axis("message size", "bytes"),
    metrics=(Metric("round trip", "s", "lower"),),
    keys={"pattern": ["REQ/REP"], "transport": ["ipc"]},
    packages=("pynng",),
    tiers=settings.Tiers.of(QUICK),
)
