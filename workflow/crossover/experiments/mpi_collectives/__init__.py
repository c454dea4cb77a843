"""Collective calls of MPI on NumPy arrays: pickled, or as buffers."""

from dataclasses import dataclass, replace
from typing import Annotated

from crossover.design import advice, settings
from crossover.design.cell import Axis, Metric
from crossover.design.experiments import ANY, Experiment

METRICS = (Metric("call", "s", "lower"),)
PATTERNS = ("allreduce", "bcast", "allgather")
MOST_RANKS = 10_000
ARMS = ("pickled", "buffer")

CALLS = """\
comm.Allreduce(array, total)  # total = np.empty_like(array)
comm.Bcast(array, root)
comm.Allgather(array, all_arrays)  # all_arrays = np.empty((comm.size, *array.shape))
"""


@dataclass(frozen=True, kw_only=True)
class Settings(settings.Settings):
    """Its settings."""

    elements: Annotated[settings.Points, "The axis, lengths of the float64 array of each rank."]
    patterns: Annotated[
        settings.Some,
        settings.Curves.valued("pattern", PATTERNS),
        "The operation: the sum of all ranks' arrays for every rank (`allreduce`), the array of one rank for all "
        "(`bcast`, the ranks in turn), or all arrays for every rank (`allgather`).",
    ] = PATTERNS
    rank_counts: Annotated[
        tuple[Annotated[int, settings.Ge(1), settings.Le(MOST_RANKS)], ...],
        settings.ONE_EACH,
        settings.MinLen(1),
        "Numbers of ranks, each in separate launches. More than two need a logical processor each, because they "
        "spin; otherwise the launch is a hole.",
    ]
    arms: Annotated[
        settings.Arms,
        settings.OneOf(ARMS),
        "`pickled` is the call in lower case, which takes any object: `allreduce`. `buffer` is the call with a "
        "capital, which takes arrays: `Allreduce` into memory that is reused.",
    ] = ARMS
    reference: Annotated[str, settings.OneOf(of="arms"), settings.REFERENCE] = "pickled"
    ceilings: Annotated[
        settings.Names,
        settings.OneOf(("C",)),
        "`C` is the call of `buffer` in C, on the same MPI. It needs a C compiler; with `[]` nothing is built.",
    ] = ("C",)
    memory_states: Annotated[
        settings.Some,
        settings.Curves.valued("memory", settings.MEMORY),
        settings.ONE_EACH,
        f"The memory of the ranks, each in separate launches. {settings.MEMORY_WORDS}",
    ] = ("fresh",)

    @property
    def memory(self) -> str:
        """How the ranks' allocator treats freed memory."""
        return self.memory_states[0]

    def ranks_between(self) -> int:
        """The ranks that take part in a call."""
        return self.rank_counts[0]


QUICK = Settings(
    elements=settings.decades(1, 1_000_000, 1),
    rank_counts=(2,),
    launches=3,
    block_seconds=0.01,
    rounds=settings.Rounds(at_most=200),
    target_width=0.03,
    budget_seconds=4,
)
STANDARD = replace(
    QUICK,
    memory_states=settings.MEMORY,
    elements=settings.decades(1, 1_000_000, 2),
    target_width=0.02,
    budget_seconds=15,
    **settings.AT_STANDARD,
)
PAPER = replace(
    STANDARD,
    elements=settings.decades(1, 10_000_000, 3),
    rank_counts=(2, 4),
    target_width=0.01,
    budget_seconds=60,
    **settings.AT_PAPER,
)
SMOKE = replace(QUICK, elements=(1, 10_000), launches=1, budget_seconds=1)

EXPERIMENT = Experiment(
    title="MPI: collective calls",
    about="Ranks reduce, broadcast or gather a NumPy array through mpi4py.",
    subject="mpi4py collectives",
    action="share arrays among MPI ranks",
    library="mpi4py",
    place=55,
    default="pickled",
    synonyms={"broadcast": "bcast"},
    axis=Axis("array length", "elements"),
    metrics=METRICS,
    keys={"pattern": [*PATTERNS], "ranks": ANY, "memory": settings.MEMORY},
    tiers=settings.Tiers(SMOKE, QUICK, STANDARD, PAPER),
    built={"C": ["mpi_collective"]},
    recommends=(
        advice.Setting(
            library="mpi4py",
            name="Allreduce, Bcast, Allgather",
            about="the length from which the calls with a capital are faster than those in lower case",
            default="pickled",
            values={"buffer": "buffer"},
            snippet=CALLS,
            beyond={
                "buffer": f"# For arrays of {{value}} elements or more; all ranks must make the same call.\n{CALLS}"
            },
        ),
    ),
)
