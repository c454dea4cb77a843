"""The rates and efficiencies of task farms by their number of engines."""

from crossover.design import kinds
from crossover.design.axis import Axis
from crossover.design.cell import Metric
from crossover.design.experiment import ANY, Experiment
from crossover.design.families import farming

METRICS = (Metric("round trip", "tasks/s", "higher"), Metric("efficiency", "", "higher"))
RIVALS = ["leastload", "pure", "twisted", "concurrent.futures", "dask"]
PLACEMENTS = ["node", "nodes"]

EXPERIMENT = Experiment(
    title="Task farms: scaling with the number of engines",
    about="Empty tasks, and tasks that take time, on farms with more and more engines.",
    subject="Tasks for many engines",
    action="feed many engines",
    library="Task farm",
    place=90,
    axis=Axis("engines", "engines"),
    metrics=METRICS,
    **farming.LAUNCH,
    keys={
        "work": ["empty", "sleep", "spin"],
        "flood_tasks": ANY,
        "duration_us": ANY,
        "tasks_per_engine": ANY,
        "cores": ANY,
        **farming.SENDERS,
    },
    settings={
        "engine_counts": farming.engine_counts(
            "The axis, engines of each farm, each number in separate launches.",
            {"smoke": [1, 2], "quick": [1, 2], "standard": [1, 2, 4], "paper": [1, 2, 4, 8, 16, 32]},
        ),
        "tasks": kinds.whole("The number of empty tasks in one flood.", {"quick": 32, "standard": 128, "paper": 128}),
        "work": farming.work(),
        "durations_us": kinds.axis(
            "Durations of the tasks that take time, in microseconds, one curve each.",
            {"quick": [10000], "standard": [10000], "paper": [1000, 10000, 100000]},
        ),
        "tasks_per_engine": kinds.whole("Tasks that take time in one flood, for each engine.", 16),
        **farming.rivals(
            {"quick": ["leastload", "pure"], "standard": RIVALS, "paper": RIVALS},
            ceilings={"quick": [], "standard": [farming.BOUND], "paper": [farming.BOUND]},
            per_heat={"quick": 2, "standard": 2, "paper": 1},
        ),
        "placements": kinds.placements(
            PLACEMENTS,
            {"smoke": PLACEMENTS, "quick": [], "standard": PLACEMENTS, "paper": PLACEMENTS},
            "Where a farm's client and its engines are, as in `task_latency`. With `[]` nothing is measured.",
            fewest=0,
        ),
        **farming.sampling(budget_seconds={"smoke": 2, "quick": 2, "standard": 8, "paper": 25}),
    },
)
