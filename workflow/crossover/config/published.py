"""Published numbers, from `config/published`, which charts show and claims are compared with."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from crossover.config import sources
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


@dataclass(frozen=True)
class Dataset:
    """One published dataset, of one host."""

    source: str
    """The citation key of the document."""
    quote: str
    """The document's exact words on the numbers."""
    locator: str
    """Place of the numbers in the document."""
    conditions: Mapping[str, str]
    """Conditions of the measurement: engines, packer, transport, machine, year; `settings` for any others; and those of
    our curves (`report/charts/overlay.py`).
    """
    experiment: str
    where: Keys
    """The keys of our curves that the points belong to."""
    points: list[Point]


def read(folder: Path = FOLDER) -> list[Dataset]:
    """Every dataset that the folder's `sources.yaml` describes. Raises CrossoverError if a description does not fit."""
    described: dict[str, Any] = yaml.safe_load((folder / SOURCES).read_text(encoding="utf-8"))
    documents = sources.read()
    return [_dataset(folder / name, description, documents) for name, description in described.items()]


def _dataset(path: Path, description: dict[str, Any], documents: Mapping[str, sources.Source]) -> Dataset:
    try:
        document = documents[description["source"]]
        own = {name: str(value) for name, value in description.get("conditions", {}).items()}
        conditions = {**document.conditions, **own, "year": str(document.year)}
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        points = [
            Point(
                _number(line, description["run"]) if "run" in description else 1.0,
                metric,
                arm,
                _number(line, description["x"]),
                _number(line, column),
            )
            for line in lines
            if (arm := _arm(line, description["arms"])) is not None
            for metric, column in description["metrics"].items()
        ]
        words = description["quote"].strip(), description["locator"]
        belongs = description["experiment"], description["where"]
        return Dataset(document.key, *words, conditions, *belongs, points)
    except (OSError, KeyError, ValueError) as error:
        raise CrossoverError(
            f"{path}: does not fit its description in {SOURCES} ({error!r}); correct one of the two"
        ) from error


def _arm(line: dict[str, str], arms: Any) -> str | None:
    """Our name for the arm of a line; None if we do not have this arm."""
    if isinstance(arms, str):
        return arms
    name: str | None = arms["names"].get(line[arms["column"]])
    return name


def _number(line: dict[str, str], column: dict[str, Any]) -> float:
    return float(line[column["column"]]) * float(column.get("factor", 1))
