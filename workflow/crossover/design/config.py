"""The complete configuration of a run: the keys of config/config.yaml at one tier, and the file of a user."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from crossover.design.settings import TIERS, FarmEntry, Ge, MinLen, OneOf, Settings

ABOUT = """\
`config.yaml` says what is measured. A key that is not set has its default. A key holds one value, or one per tier:
`launches: {quick: 3, standard: 5, paper: 10}`. On the command line, `--config tier=standard` chooses the tier. The
whole configuration, of every tier, is checked before anything runs; all errors are listed, key by key.
"""

ABOUT_FARMS = """\
An entry is a task farm with its options, under a name that arms can use. One line adds one:
`farms: {lru hwm 4: {farm: ipyparallel, scheme: lru, hwm: 4}}`.

- `farm`: the folder in `workflow/crossover/farms/` that runs it.
- `alone`: it shares a launch with no other rival, because it disturbs them even while it is idle.
"""


@dataclass(frozen=True, kw_only=True)
class Config:
    """The keys of the configuration, and what a run adds to them."""

    tier: Annotated[
        str,
        OneOf(TIERS),
        "How much is measured. `smoke` takes a few minutes and shows whether everything works; its numbers mean "
        "little. `quick` takes minutes, `standard` an hour or more. `paper` measures the published points and takes "
        "longest. `snakemake -n` prints how long.",
    ] = "quick"
    results: Annotated[
        str,
        MinLen(1),
        "The folder for everything that a run writes, relative to the project's root; `results-smoke` at tier `smoke`.",
    ] = "results"
    at: Annotated[
        str,
        "One point, such as `40kB`, which is measured instead of every axis in its unit. `crossover ask` proposes it "
        "between two measured points, with a folder of results of its own.",
    ] = ""
    own: Annotated[
        str,
        "A Python file of your own, such as `my_work.py`, whose functions are measured too: `items(count)` returns a "
        "list of arguments, `task(item)` runs on each, and `same(got, expected)`, if there is one, tells whether a "
        "result is right. `crossover try` measures it alone.",
    ] = ""
    archives: Annotated[
        str,
        MinLen(1),
        "Where the source archives of libzmq come from. `pip` downloads them. On a machine without network, name a "
        "folder that holds them. Each archive is checked against its checksum.",
    ] = "pip"
    partial: Annotated[bool, "Report on all launches that exist, as they are, and measure nothing."] = False
    remeasure: Annotated[
        bool,
        "Remeasure launches whose settings, code or software differ from this run's. Each old file stays until the new "
        "measurement is finished. Without this key, a run with such launches stops and lists them.",
    ] = False
    unauthenticated_farms: Annotated[
        bool,
        "Measure task farms that do not authenticate, such as `dask unencrypted`. During such a launch, any user of "
        "the same host, or of the same network in placement `nodes`, can run code as you. Without this key, launches "
        "with these farms are left out, and the report names them.",
    ] = False
    farms: Annotated[
        Mapping[str, FarmEntry],
        "Task farms that the arms of task experiments can name. Those listed below are always available; add others "
        "here, or change one of them.",
    ]
    experiments: Annotated[
        Mapping[str, Settings], "The experiments to run, each with its own keys. `{}` takes every default."
    ]
    hosts: int = 1
    """The most hosts that a launch can have: 1 on a single machine, on Slurm at most as many as it grants one job."""
    too_few_nodes: str = ""
    """Why launches with more hosts are left out."""


MORE_IMPORTS = 2
"""Besides one for each arm: those of a program and its workers, which shows whether they can run the function."""


@dataclass(frozen=True, kw_only=True)
class OfUser(Settings):
    """Those of an experiment on a user's file, which a run has only if its configuration names the file."""

    file: str = ""
    """The name of the file."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """The text of the file, and of the files beside it that it imports, by their paths in its folder."""

    import_seconds: Annotated[
        float,
        Ge(0),
        "Seconds of the file's import, for which the time limit of a launch allows. `crossover try` measures them.",
    ] = 0.0

    needs: ClassVar[Mapping[str, str]] = {}
    """The functions that a file must have, with their purposes."""

    @property
    def expected_seconds(self) -> float:
        """The expected time of the launch, with its imports."""
        return super().expected_seconds + (len(self.arms) + MORE_IMPORTS) * self.import_seconds

    @property
    def limit_seconds(self) -> int:
        """The time limit of the launch, in which imports may take longer, because processes share the cores."""
        return super().limit_seconds + math.ceil(4 * (len(self.arms) + MORE_IMPORTS) * self.import_seconds)


TIMES = 20
"""Each arm of a launch must be able to pickle and unpickle an object so many times."""


@dataclass(frozen=True)
class ObjectFacts:
    """What an object is when pickled by protocol 5, which can leave large buffers out of the pickle."""

    pickled_bytes: int
    """The length of the pickle and of all buffers."""
    buffer_count: int
    """The buffers that go out of band."""
    out_of_band_share: float
    """Their share of the bytes, from 0 to 1."""

    def __str__(self) -> str:
        return (
            f"{self.pickled_bytes:,} bytes when pickled, {self.out_of_band_share:.0%} of them in buffers that go out "
            f"of band ({self.buffer_count:,})"
        )


@dataclass(frozen=True)
class ObjectLook:
    """What a first look at `message(count)` tells, for some rising counts."""

    counts: list[int]
    pickled_bytes: list[int]
    seconds: list[float]
    """The time to pickle and unpickle each object."""
    kind: str
    """The name of the object's type."""
    buffer_count: int
    """Of the last object, as ObjectFacts has it."""
    out_of_band_share: float
    import_seconds: float = 0.0


def too_slow(seconds: float, arms: int, budget_seconds: float) -> bool:
    """Whether an object that takes so long to pickle and unpickle is left out of a launch with so many arms."""
    return TIMES * arms * seconds > budget_seconds
