"""A user's own object, sent to another process in every way that carries it."""

from dataclasses import dataclass, replace
from typing import Annotated

from crossover.design import settings
from crossover.design.cell import Axis, Metric
from crossover.design.experiment import Experiment

METRICS = (Metric("round trip", "s", "lower"), Metric("throughput", "messages/s", "higher"))
PATTERNS = ("round trips", "stream")
TO_CHILD = ("Pipe send", "Queue", "shared memory")
"""The arms between a process and its child, within one host."""
TO_RANK = (
    *("ZeroMQ pickle", "ZeroMQ out of band", "ZeroMQ out of band no-copy"),
    *("mpi4py send", "mpi4py pkl5 send", "mpi4py Send", "Arrow IPC", "msgpack", "JSON"),
)


@dataclass(frozen=True)
class ObjectFacts:
    """What an object is when pickled by protocol 5, which can leave large buffers out of the pickle."""

    pickled_bytes: int
    """The length of the pickle and of all buffers."""
    buffer_count: int
    """The buffers that go out of band."""
    out_of_band_share: float
    """Their share of the bytes, from 0 to 1."""


@dataclass(frozen=True)
class Look:
    """What a first look at `message(1)` tells."""

    message_seconds: float
    """The time of the call."""
    pickle_seconds: float
    """The time of pickling and unpickling the object."""
    facts: ObjectFacts


@dataclass(frozen=True, kw_only=True)
class Settings(settings.OfUser):
    """Its settings."""

    counts: Annotated[
        settings.Points,
        "The axis, what `message` is called with. Counts are left out whose objects are too large or too slow.",
    ]
    patterns: Annotated[
        settings.Some,
        settings.Curves.valued("pattern", PATTERNS),
        "`round trips`: the other end sends an object of its own back. `stream`: it takes one after another, and "
        "confirms the last.",
    ] = PATTERNS
    preludes: settings.Preludes = settings.PRELUDES
    arms: Annotated[
        settings.Arms,
        settings.OneOf((*TO_CHILD, *TO_RANK)),
        "The ways; one that cannot carry the object is a hole with the reason. `Pipe send` and `Queue` are those of "
        "`multiprocessing`; `shared memory` copies the pickle and its buffers into a `SharedMemory` block and out of "
        "it. `ZeroMQ pickle` is `send_pyobj`; `out of band` sends the buffers of pickle's protocol 5 as frames, with "
        "`no-copy` lent to the library. `mpi4py send` pickles, `mpi4py pkl5 send` leaves buffers out of the pickle, "
        "and `mpi4py Send` sends the memory of a contiguous NumPy array. `Arrow IPC` (tables of pandas, polars and "
        "pyarrow), `msgpack` and `JSON` (plain data) go over ZeroMQ.",
    ] = (*TO_CHILD, *TO_RANK)
    reference: Annotated[str, settings.OneOf(of="arms"), settings.REFERENCE] = "ZeroMQ pickle"
    placements: Annotated[settings.Some, settings.OneOf(("node", "nodes")), settings.WHERE] = ("node",)


QUICK = Settings(
    counts=(1, 10, 1_000, 10_000),
    preludes=settings.PRELUDES[:1],
    launches=4,
    fewest_rounds=2,
    block_seconds=0.01,
    rounds=settings.Rounds(at_most=200),
    target_width=0.05,
    budget_seconds=8,
    refine_metric="round trip",
)
LONGER = settings.Tiers.of(replace(QUICK, preludes=settings.PRELUDES))

EXPERIMENT = Experiment(
    title="Your object",
    about="An object of yours goes to another process and back, or one after another, in every way that carries it.",
    subject="Your object",
    action="send your object",
    library="Between processes",
    place=59,
    asked=2,
    axis=Axis("count", "items"),
    metrics=METRICS,
    chosen_by={"round trip": "round trips", "throughput": "stream"},
    keys={"pattern": [*PATTERNS], "prelude": [*settings.PRELUDES]},
    packages=("msgpack", "pandas", "pyarrow"),
    tiers=replace(LONGER, smoke=replace(QUICK, launches=1, budget_seconds=1), quick=QUICK),
)
