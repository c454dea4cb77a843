"""Floods of empty tasks to task farms."""

from dataclasses import dataclass, replace
from typing import Annotated

from crossover.design import advice, farming, settings
from crossover.design.cell import Axis, Metric
from crossover.design.experiments import ANY, Experiment

METRICS = (Metric("submission", "tasks/s", "higher"), Metric("round trip", "tasks/s", "higher"))
CHUNKED = ("ipyparallel map", "multiprocessing.Pool map", "concurrent.futures chunk 8")
"""The calls by which users hand a list of tasks to a farm at once."""
SCHEMES = ("lru", "weighted", "plainrandom", "twobin")


@dataclass(frozen=True, kw_only=True)
class Settings(farming.FixedEngines):
    """Its settings."""

    tasks: Annotated[settings.Points, "The axis, the number of tasks in one flood."]
    preludes: farming.Preludes = ("pause", "none")


QUICK = Settings(
    tasks=(8, 32, 128),
    arms=("leastload", "pure", *farming.POOLS, *CHUNKED),
    budget_seconds=6.5,
    # One launch has all arms, since idle pools sleep.
    rivals_per_launch=7,
    # Of many rivals, more launches bound the best with fewer rounds.
    **farming.QUICK | {"launches": 6},
)
STANDARD = replace(
    QUICK,
    tasks=(8, 64, 512, 1024),
    arms=(
        *(*farming.LASTING, *CHUNKED, *farming.THREADS, *farming.SCHEDULERS),
        *(*farming.ALONE, "dask map", "mpi4py.futures chunk 8"),
        *("leastload over ssh", "leastload unencrypted", "dask unencrypted"),
    ),
    ceilings=(farming.BOUND,),
    budget_seconds=15,
    **farming.STANDARD,
)
PAPER = replace(
    STANDARD,
    tasks=(8, 16, 32, 64, 128, 256, 512, 1024),
    arms=(
        *(*farming.LASTING, *CHUNKED, *farming.THREADS, "leastload hwm 1", "leastload hwm 2"),
        *(f"{scheme}{limit}" for scheme in SCHEMES for limit in ("", " hwm 1", " hwm 2")),
        *(*farming.ALONE, "leastload over ssh", "leastload msgpack over ssh", "pure over ssh"),
        *("mpi4py.futures backoff 0", "mpi4py.futures chunk 8", "dask map"),
        *("multiprocessing.Pool chunk 8", "joblib batch 1"),
        *("leastload unencrypted", "dask unencrypted"),
    ),
    engines=4,
    budget_seconds=60,
    **farming.PAPER,
)
SMOKE = replace(QUICK, tasks=(8, 32), arms=("leastload", "pure"), reference="leastload", launches=1, budget_seconds=2)

EXPERIMENT = Experiment(
    title="Task farms: the cost of a small task",
    about="A client submits empty tasks to a farm of engines, one by one as fast as it can, then waits for all of "
    "them.",
    subject="Empty tasks on a farm",
    action="run empty tasks",
    library="Task farm",
    place=60,
    default="concurrent.futures",
    synonyms={
        "overhead": "cost of a small task",
        **dict.fromkeys(("short functions", "short tasks", "tiny tasks"), "empty tasks"),
        "ipp": "ipyparallel",
        "executor": "concurrent.futures",
        "ProcessPoolExecutor": "concurrent.futures",
        "distributed": "dask",
    },
    axis=Axis("tasks", "tasks"),
    metrics=METRICS,
    leading_metric="round trip",
    chosen_by={"round trip": "until all are done", "submission": "submission"},
    keys={"prelude": ["pause", "none"], "work": ["empty"], "engines": ANY, **farming.SENDERS},
    tiers=settings.Tiers(SMOKE, QUICK, STANDARD, PAPER),
    recommends=(
        advice.Setting(
            library="ipyparallel",
            name="TaskScheduler.scheme_name",
            program_wide=True,
            about="the scheduler, without a high-water mark",
            default="leastload",
            values={scheme: scheme for scheme in ("pure", *SCHEMES)},
            snippet="""\
# in ipcontroller_config.py
c.TaskScheduler.scheme_name = {value}
c.TaskScheduler.hwm = 0
""",
        ),
        advice.Setting(
            library="ipyparallel",
            name="TaskScheduler.hwm",
            program_wide=True,
            about="the most tasks that an engine gets at a time; 0 for any number",
            default="leastload hwm 1",
            values={"leastload": 0, "leastload hwm 2": 2},
            snippet="""\
# in ipcontroller_config.py
c.TaskScheduler.hwm = {value}
""",
        ),
        advice.Setting(
            library="ipyparallel",
            name="Session.packer",
            program_wide=True,
            about="how messages are serialized",
            default="leastload",
            values={"leastload msgpack": "msgpack"},
            snippet="""\
# in ipcontroller_config.py; engines and clients learn it from the controller's connection files
c.Session.packer = {value}
c.Session.unpacker = {value}
""",
        ),
    ),
)
