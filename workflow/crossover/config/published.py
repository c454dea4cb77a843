"""The numbers that others published, from `config/published`: drawn over ours, and held against what was claimed."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from crossover.config import sources
from crossover.errors import CrossoverError
from crossover.paths import CONFIG
from crossover.records.protocol import Keys

FOLDER = CONFIG / "published"
SOURCES = "sources.yaml"


@dataclass(frozen=True)
class Dataset:
    """One published dataset, of one host. `points` are of a run, metric and arm, with x and value in our own units."""

    source: str
    """The citation key of the document."""
    locator: str
    """Where in the document the numbers are."""
    conditions: Mapping[str, str]
    """What they were measured under: engines, packer, transport, machine, year; `settings` if others are stated; and
    those that our curves have (`report/charts/conditions.py`).
    """
    experiment: str
    where: Keys
    """The keys of those of our curves that the points belong to."""
    points: list[dict[str, Any]]
    in_claims: Mapping[str, str] = field(default_factory=dict)
    """By the arm of some of the points, the arm that claims name in its place."""


def read(folder: Path = FOLDER) -> list[Dataset]:
    """Every dataset that the folder's `sources.yaml` describes.

    Raises CrossoverError for a description that does not fit its file.
    """
    described: dict[str, Any] = yaml.safe_load((folder / SOURCES).read_text(encoding="utf-8"))
    documents = sources.read()
    return [_dataset(folder / name, told, documents) for name, told in described.items()]


def _dataset(path: Path, told: dict[str, Any], documents: Mapping[str, sources.Source]) -> Dataset:
    try:
        document = documents[told["source"]]
        own = {name: str(value) for name, value in told.get("conditions", {}).items()}
        conditions = {**document.conditions, **own, "year": str(document.year)}
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        points = [
            {
                "run": _number(line, told["run"]) if "run" in told else 1.0,
                "metric": metric,
                "arm": arm,
                "x": _number(line, told["x"]),
                "value": _number(line, column),
            }
            for line in lines
            if (arm := _arm(line, told["arms"])) is not None
            for metric, column in told["metrics"].items()
        ]
        about = document.key, told["locator"], conditions, told["experiment"], told["where"]
        return Dataset(*about, points, told.get("in_claims", {}))
    except (OSError, KeyError, ValueError) as error:
        raise CrossoverError(
            f"{path}: does not fit its description in {SOURCES} ({error!r}); correct either"
        ) from error


def _arm(line: dict[str, str], arms: Any) -> str | None:
    """Our name of the arm of a line; None for an arm that we do not have."""
    if isinstance(arms, str):
        return arms
    name: str | None = arms["names"].get(line[arms["column"]])
    return name


def _number(line: dict[str, str], column: dict[str, Any]) -> float:
    return float(line[column["column"]]) * float(column.get("factor", 1))
