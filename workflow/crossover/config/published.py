"""Published numbers, from `config/published`, which charts show and claims are compared with."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, NamedTuple

from annotated_types import MinLen

from crossover.config import sources, yaml_file
from crossover.design.protocol import Keys
from crossover.errors import CrossoverError
from crossover.paths import CONFIG

FOLDER = CONFIG / "published"
SOURCES = "sources.yaml"


class Point(NamedTuple):
    """A published number, in our units."""

    run: float
    metric: str
    arm: str
    x: float
    value: float


CONDITIONS = (
    *sources.STATED,
    "settings",
    "pattern",  # the sockets at both ends
    "polled",
    "burst",  # how long a burst lasts
    "payload",  # whether the bytes of a message are written and read
    "object",  # the Python object
    "re_sent",  # whether the object is received into the memory that it was sent from
    "thread_level",  # that is requested from MPI
    "player",  # what the two ends are, `rank` or `engine`
    "work",  # what a task does
    "flood_tasks",  # the tasks of one flood
    "durations",
    "tasks_per_engine",
    "senders",
    "hwm",
    "ssh",  # whether the client's connections go through a tunnel
)
"""The conditions that a dataset may state."""


@dataclass(frozen=True)
class Column:
    """A column of a dataset's file, with the factor that converts its unit into ours."""

    __pydantic_config__ = yaml_file.STRICT
    column: str
    factor: float = 1

    def number(self, line: Mapping[str, str]) -> float:
        """The number in a line of the file, in our unit."""
        return float(line[self.column]) * self.factor


@dataclass(frozen=True)
class Arms:
    """A column with our arm for each of its values; other values are of arms that we do not have."""

    __pydantic_config__ = yaml_file.STRICT
    column: str
    names: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """One published dataset, of one host."""

    __pydantic_config__ = yaml_file.STRICT
    source: str
    """The citation key of the document."""
    quote: sources.Text
    """The document's exact words on the numbers."""
    locator: sources.Text
    """Place of the numbers in the document: section, cell or message."""
    conditions: Mapping[Annotated[str, sources.one_of(CONDITIONS)], sources.Condition] = field(default_factory=dict)
    """Conditions of these numbers, those of the document included: engines, packer, transport, machine, year;
    `settings` for any others; and those of our curves (`report/charts/overlay.py`).
    """
    experiment: str
    where: Keys
    """The keys of our curves that the points belong to."""
    x: Column
    run: Column | None = None
    arms: str | Arms
    """Our arm, or the column with it."""
    metrics: Annotated[Mapping[str, Column], MinLen(1)]
    points: Sequence[Point] = ()


def read(folder: Path = FOLDER) -> list[Dataset]:
    """Every dataset that the folder's `sources.yaml` describes. Raises CrossoverError if a description does not fit."""
    file = folder / SOURCES
    described = yaml_file.validated(dict[str, Dataset], yaml_file.read_yaml(file), file)
    yaml_file.refuse(
        f"{file}: {name}.{fault}" for name, dataset in described.items() for fault in sources.unknown(dataset.source)
    )
    return [_complete(folder / name, dataset) for name, dataset in described.items()]


def _complete(path: Path, dataset: Dataset) -> Dataset:
    """The dataset with the points of its file, and with the conditions of its document."""
    document = sources.read()[dataset.source]
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        points = [
            Point(
                dataset.run.number(line) if dataset.run else 1.0,
                metric,
                arm,
                dataset.x.number(line),
                column.number(line),
            )
            for line in lines
            if (
                arm := dataset.arms
                if isinstance(dataset.arms, str)
                else dataset.arms.names.get(line[dataset.arms.column])
            )
            for metric, column in dataset.metrics.items()
        ]
    except (OSError, KeyError, ValueError) as error:
        raise CrossoverError(
            f"{path}: does not fit its description in {SOURCES} ({error!r}); correct one of the two"
        ) from error
    conditions = {**document.conditions, **dataset.conditions, "year": str(document.year)}
    return replace(dataset, quote=dataset.quote.strip(), conditions=conditions, points=points)
