"""A finished run, read from its folder of results: its launches, ranks and curves."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from crossover.analyse.curves.curve import NAMES, Curve, Row, curves
from crossover.analyse.curves.rounds import blocks, medians
from crossover.design.settings import read_settings
from crossover.errors import CrossoverError
from crossover.records import failure, record
from crossover.records.failure import Failure

Name = tuple[str, ...]

MACHINE = ("cpu", "logical_cpus", "memory_bytes", "governor", "affinity", "kernel", "os", "container", "mpi", "python")
"""Columns of the ranks that distinguish two machines, or one before and after an upgrade."""


@dataclass(frozen=True)
class Run:
    """One folder of results."""

    label: str
    """Its name in tables and on the page, such as `before`."""
    folder: Path
    launches: list[Row]
    ranks: list[Row]
    curves: dict[Name, Curve]
    """By the columns of NAMES; all arms, including the reference and the null arm."""

    failures: list[Failure] = field(default_factory=list)
    """The failures of the tables that a comparison uses."""

    def identities(self, experiment: str, placement: str) -> set[tuple[str, str, int]]:
        """Identities of the launches of one experiment and placement, unique among all runs."""
        return {
            (row["started_utc"], row["host"], row["launch"])
            for row in self.launches
            if (row["experiment"], row["placement"]) == (experiment, placement) and row["started_utc"]
        }

    def facts(self) -> Iterator[Row]:
        """The rows of record.RUNS: facts of the run's software, machine and settings; distinct values share a row."""
        found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for rank in self.ranks:
            found["machine", "host"].add(rank["host"])
            for name in MACHINE:
                found["machine", name].add(_text(rank[name]))
            for name, version in json.loads(rank["libraries"] or "{}").items():
                found["library", name].add(_text(version))
        for launch in self.launches:
            found["launches", launch["outcome"]].add(f"{launch['experiment']} {launch['placement']} {launch['launch']}")
            if launch["started_utc"]:
                found["when", "days"].add(launch["started_utc"][:10])
            found["code", "commit"].add(_text(launch["commit"]))
            for name, value in read_settings(launch["settings"]).items():
                found["setting", f"{launch['experiment']}, {launch['placement']}: {name}"].add(_text(value))
        for (kind, name), values in sorted(found.items()):
            # Only the number of launches can be compared, not which ones they are.
            value = str(len(values)) if kind == "launches" else "; ".join(sorted(values - {""}))
            yield {"run": self.label, "folder": str(self.folder), "kind": kind, "name": name, "value": value}


def read(folder: Path, label: str) -> Run:
    """The run in `folder`. Raises CrossoverError if there is none, or one that cannot be used."""
    if not folder.is_dir():
        raise CrossoverError(f"{folder}: does not exist; name the folder of results of a finished run")
    needed = ("launches", "ranks", "measurements")
    if missing := [f"{name}.parquet" for name in needed if not (folder / f"{name}.parquet").is_file()]:
        raise CrossoverError(
            f"{folder}: lacks {', '.join(missing)}; name the results of a finished run, or repeat the Snakemake "
            "command to finish this one"
        )
    launches = record.read(folder / "launches.parquet", record.LAUNCHES).to_pylist()
    failures = [each for name in (*needed, "medians") for each in failure.of(folder / f"{name}.parquet")]
    ranks = record.read(folder / "ranks.parquet", record.RANKS).to_pylist()
    path = folder / "medians.parquet"
    # Older runs do not have this table; it can be derived from the blocks.
    found = (
        record.read(path, record.MEDIANS).to_pandas()
        if path.is_file()
        else medians(blocks(record.read(folder / "measurements.parquet", record.MEASUREMENTS)))
    )
    named = {tuple(curve.facts[name] for name in NAMES): curve for curve in map(attrgetter("swept"), curves(found))}
    for cause, group in failure.grouped(failures).items() if not named else ():
        raise CrossoverError(
            f"{folder}: the {failure.names(group)} failed ({cause.error}), so there is nothing to compare; repeat the "
            "command that made these results"
        )
    if not named:
        raise CrossoverError(f"{folder}: no launch has data, so there is nothing to compare; see its report")
    return Run(label, folder, launches, ranks, named, [each for each in failures if each.kind == "table"])


def failures(runs: Iterable[Run]) -> list[Failure]:
    """The failures of the tables of all `runs`, each with its folder."""
    return [replace(each, experiment=f"{each.experiment} in {run.folder}") for run in runs for each in run.failures]


def write_facts(runs: list[Run], folder: Path) -> None:
    """Write the facts of the `runs` to `folder`, as record.RUNS."""
    rows = [row for run in runs for row in run.facts()]
    record.write(record.from_rows(rows, record.RUNS), folder / "runs.parquet")


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
