"""Collective calls of MPI on NumPy arrays: pickled, or as buffers."""

from crossover.design import advice, kinds
from crossover.design.axis import Axis
from crossover.design.cell import Metric
from crossover.design.experiment import ANY, Experiment

METRICS = (Metric("call", "s", "lower"),)
PATTERNS = ("allreduce", "bcast", "allgather")
MOST_RANKS = 10_000
ARMS = ("pickled", "buffer")

CALLS = """\
comm.Allreduce(array, total)  # total = np.empty_like(array)
comm.Bcast(array, root)
comm.Allgather(array, all_arrays)  # all_arrays = np.empty((comm.size, *array.shape))
"""

EXPERIMENT = Experiment(
    title="MPI: collective calls",
    about="Ranks reduce, broadcast or gather a NumPy array through mpi4py.",
    subject="mpi4py collectives",
    action="share arrays among MPI ranks",
    library="mpi4py",
    place=55,
    asked=60,
    axis=Axis("array length", "elements"),
    metrics=METRICS,
    keys={"pattern": [*PATTERNS], "ranks": ANY},
    settings={
        "elements": kinds.axis(
            "The axis, lengths of the float64 array of each rank.",
            {
                "smoke": [1, 10_000],
                "quick": kinds.decades(1, 1_000_000, 1),
                "standard": kinds.decades(1, 1_000_000, 2),
                "paper": kinds.decades(1, 10_000_000, 3),
            },
        ),
        "patterns": kinds.values_of(
            "pattern",
            "The operation: the sum of all ranks' arrays for every rank (`allreduce`), the array of one rank for all "
            "(`bcast`, the ranks in turn), or all arrays for every rank (`allgather`).",
            PATTERNS,
            [*PATTERNS],
        ),
        "rank_counts": kinds.numbers(
            "Numbers of ranks, each in separate launches. More than two need a logical processor each, because they "
            "spin; otherwise the launch is a hole.",
            {"quick": [2], "standard": [2], "paper": [2, 4]},
            most=MOST_RANKS,
            one="ranks",
        ),
        "arms": kinds.arms(
            "`pickled` is the call in lower case, which takes any object: `allreduce`. `buffer` is the call with a "
            "capital, which takes arrays: `Allreduce` into memory that is reused.",
            ARMS,
            [*ARMS],
        ),
        "reference": kinds.reference(ARMS, "pickled"),
        "ceilings": kinds.ceilings(
            "`C` is the call of `buffer` in C, on the same MPI. It needs a C compiler; with `[]` nothing is built.",
            ["C"],
            ["C"],
        ),
        "placements": kinds.placements(["node", "nodes"], ["node", "nodes"]),
        **kinds.sampling(
            launches={"smoke": 1, "quick": 3, "standard": 12, "paper": 16},
            block_seconds=0.01,
            most_rounds=200,
            target_width={"quick": 0.03, "standard": 0.02, "paper": 0.01},
            budget_seconds={"smoke": 1, "quick": 5, "standard": 15, "paper": 60},
            fewest_rounds=kinds.FEW,
        ),
        **kinds.refinement(METRICS),
    },
    built={"C": ["mpi_collective"]},
    ranks=lambda settings: int(settings["ranks"]),
    keeps_memory=lambda settings: True,
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
