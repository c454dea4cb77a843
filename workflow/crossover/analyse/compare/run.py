"""A run, read from its folder of results: its launches, ranks and curves."""

import json
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from crossover.analyse.curves.curve import NAMES, Curve, Row, curves
from crossover.design.settings import read_settings
from crossover.errors import CrossoverError
from crossover.records import failure, run_tables
from crossover.records.failure import Failure

Name = tuple[str, ...]

TABLES = ("launches", "ranks", "medians")
"""The tables of a run that a comparison reads."""

MACHINE = ("cpu", "logical_cpus", "memory_bytes", "governor", "affinity", "kernel", "os", "container", "mpi", "python")
"""Columns of the ranks that distinguish two machines, or one before and after an upgrade."""

KINDS = ("run", "code", "machine", "library", "setting")
"""Kinds of facts, in the order of a list."""


@dataclass(frozen=True)
class Run:
    """One folder of results."""

    label: str
    """`before` or `after`."""
    folder: Path
    launches: list[Row]
    ranks: list[Row]
    curves: dict[Name, Curve]
    """By the columns of NAMES; all arms, including the reference and the null arm."""
    failures: list[Failure]
    """The failures of TABLES."""

    @property
    def experiments(self) -> set[str]:
        """The experiments that were launched."""
        return {row["experiment"] for row in self.launches}

    def identities(self, experiment: str, placement: str) -> set[tuple[str, str, int]]:
        """Identities of the launches of one experiment and placement, unique among all runs."""
        return {
            (row["started_utc"], row["host"], row["launch"])
            for row in self.launches
            if (row["experiment"], row["placement"]) == (experiment, placement) and row["started_utc"]
        }

    def facts(self, experiments: Collection[str]) -> dict[tuple[str, str], str]:
        """Facts of these experiments' software, machine and settings, by kind and name; distinct values are joined."""
        found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for rank in (rank for rank in self.ranks if rank["experiment"] in experiments):
            found["machine", "host"].add(rank["host"])
            for name in MACHINE:
                found["machine", name].add(_text(rank[name]))
            for name, version in json.loads(rank["libraries"] or "{}").items():
                found["library", name].add(_text(version))
        for launch in (launch for launch in self.launches if launch["experiment"] in experiments):
            found["run", "days"].add((launch["started_utc"] or "")[:10])
            found["code", "commit"].add(_text(launch["commit"]))
            for name, value in read_settings(launch["settings"]).items():
                found["setting", f"{launch['experiment']}, {launch['placement']}: {name}"].add(_text(value))
        found["run", "folder"].add(str(self.folder))
        return {key: "; ".join(sorted(values - {""})) for key, values in found.items()}


def read(folder: Path, label: str) -> Run:
    """The run in `folder`, also one of a single experiment.

    Raises CrossoverError if there is none, or one that cannot be used.
    """
    if not folder.is_dir():
        raise CrossoverError(f"{folder}: does not exist; name the folder of results of a finished run")
    launches, ranks, medians = (run_tables.read(folder, name) for name in TABLES)
    failures = [each for name in TABLES for each in run_tables.failures(folder, name)]
    found = map(attrgetter("swept"), curves(medians.to_pandas()))
    named = {tuple(curve.facts[name] for name in NAMES): curve for curve in found}
    for cause, group in failure.grouped(failures).items() if not named else ():
        raise CrossoverError(
            f"{folder}: the {failure.names(group)} failed ({cause.error}), so there is nothing to compare; repeat the "
            "command that made these results"
        )
    if not named:
        raise CrossoverError(f"{folder}: no launch has data, so there is nothing to compare; see its report")
    tables = [each for each in failures if each.kind == "table"]
    return Run(label, folder, launches.to_pylist(), ranks.to_pylist(), named, tables)


def failures(*runs: Run) -> list[Failure]:
    """The failures of the tables of `runs`, each with its folder."""
    return [replace(each, experiment=f"{each.experiment} in {run.folder}") for run in runs for each in run.failures]


def differences(before: Run, after: Run) -> list[Row]:
    """The rows of record.DIFFERENCES: facts of the experiments that both runs launched, and that differ."""
    shared = before.experiments & after.experiments
    first, second = before.facts(shared), after.facts(shared)
    differing = [key for key in first.keys() | second.keys() if first.get(key, "") != second.get(key, "")]
    return [
        {"kind": kind, "name": name, "before": first.get((kind, name), ""), "after": second.get((kind, name), "")}
        for kind, name in sorted(differing, key=lambda key: (KINDS.index(key[0]), key[1]))
    ]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
