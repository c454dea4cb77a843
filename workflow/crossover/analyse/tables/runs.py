"""Two runs to compare, read from their folders of results: their launches, ranks and curves, the pairs of comparable
curves, and the reasons for all others."""

import json
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from crossover.analyse.estimates.curve import NAMES, PANEL, Curve, Row, curves
from crossover.analyse.estimates.intervals import Floats
from crossover.errors import CrossoverError
from crossover.records import holes, run_tables
from crossover.records.rows import Launch, Rank

Name = tuple[str, ...]

READ = ("launches", "ranks", "medians")
"""The tables of a run that a comparison reads."""

MACHINE = ("cpu", "logical_cpus", "memory_bytes", "governor", "affinity", "kernel", "os", "container", "mpi", "python")
"""Columns of the ranks that distinguish two machines, or one before and after an upgrade."""

MAPS = (("machine", "tuning"), ("machine", "variables"), ("library", "libraries"))
"""Kinds of facts of which the ranks have many in one column, and these columns."""

KINDS = ("run", "code", "machine", "library", "setting")
"""Kinds of facts, in the order of a list."""

SAME = {
    "reference": "reference",
    "unit": "unit",
    "axis": "axis",
    "axis_unit": "unit of the axis",
    "better": "better direction",
}
"""Facts that two curves of one name must share to be the same quantity, and their names in messages."""


@dataclass(frozen=True)
class Run:
    """One folder of results."""

    label: str
    """`before` or `after`."""
    folder: Path
    launches: list[Launch]
    ranks: list[Rank]
    curves: dict[Name, Curve]
    """By the columns of NAMES; all arms, including the reference and the null arm."""

    @property
    def experiments(self) -> set[str]:
        """The experiments that were launched."""
        return {row.experiment for row in self.launches}

    def identities(self, experiment: str, placement: str) -> set[tuple[str, str, int]]:
        """Identities of the launches of one experiment and placement, unique among all runs."""
        return {
            (row.started_utc, row.host, row.launch)
            for row in self.launches
            if (row.experiment, row.placement) == (experiment, placement) and row.started_utc
        }

    def facts(self, experiments: Collection[str]) -> dict[tuple[str, str], str]:
        """Facts of these experiments' software, machine and settings, by kind and name; distinct values are joined."""
        found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for rank in (rank for rank in self.ranks if rank.experiment in experiments):
            found["machine", "host"].add(rank.host)
            for name in MACHINE:
                found["machine", name].add(_text(getattr(rank, name)))
            for kind, column in MAPS:
                for name, value in (getattr(rank, column) or {}).items():
                    found[kind, name].add(_text(value))
        for launch in (launch for launch in self.launches if launch.experiment in experiments):
            found["run", "days"].add(launch.started_utc[:10])
            found["code", "commit"].add(launch.commit)
            for name, value in (launch.settings or {}).items():
                found["setting", f"{launch.experiment}, {launch.placement}: {name}"].add(_text(value))
        found["run", "folder"].add(str(self.folder))
        return {key: "; ".join(sorted(values - {""})) for key, values in found.items()}


def read_run(folder: Path, label: str) -> Run:
    """The run in `folder`, also one of a single experiment.

    Raises CrossoverError if there is none, or one that cannot be used.
    """
    if not folder.is_dir():
        raise CrossoverError(f"{folder}: does not exist; name the folder of results of a finished run")
    launches, ranks, medians = (run_tables.read(folder, name) for name in READ)
    found = map(attrgetter("swept"), curves(medians.to_pandas()))
    named = {tuple(curve.facts[name] for name in NAMES): curve for curve in found}
    if not named:
        raise CrossoverError(f"{folder}: no launch has data, so there is nothing to compare; see its report")
    return Run(label, folder, [*map(Launch.of, launches.to_pylist())], [*map(Rank.of, ranks.to_pylist())], named)


def differences(before: Run, after: Run) -> list[Row]:
    """The rows of record.DIFFERENCES: facts of the experiments that both runs launched, and that differ."""
    shared = before.experiments & after.experiments
    first, second = before.facts(shared), after.facts(shared)
    differing = [key for key in first.keys() | second.keys() if first.get(key, "") != second.get(key, "")]
    return [
        {"kind": kind, "name": name, "before": first.get((kind, name), ""), "after": second.get((kind, name), "")}
        for kind, name in sorted(differing, key=lambda key: (KINDS.index(key[0]), key[1]))
    ]


def pairs(before: Run, after: Run) -> tuple[list[tuple[Curve, Curve]], list[Row]]:
    """The same curves of both runs at the cells that both measured, sorted by name, and the rows of record.UNPAIRED:
    curves and cells without a partner."""
    found, alone = [], []
    for name in sorted(before.curves.keys() | after.curves.keys()):
        first, second = before.curves.get(name), after.curves.get(name)
        if first is None or second is None:
            here, there = (before, after) if second is None else (after, before)
            alone.append(_alone(here.curves[name], here.label, _absence(name, there)))
        elif reason := _unlike(first, second, before, after):
            alone.append(_alone(first, "both", reason))
        else:
            common = np.intersect1d(_measured(first), _measured(second))
            for run, curve in ((before, first), (after, second)):
                alone += [
                    _alone(curve, run.label, "the other run did not measure this point", x)
                    for x in np.setdiff1d(_measured(curve), common)
                ]
            if common.size:
                found.append((first.at(common), second.at(common)))
    return found, alone


def _alone(curve: Curve, label: str, reason: str, x: float | None = None) -> Row:
    return curve.facts | {"run": label, "x": x, "reason": reason}


def _measured(curve: Curve) -> Floats:
    return np.asarray(curve.x[~np.isnan(curve.values).all(axis=0)])


def _unlike(first: Curve, second: Curve, before: Run, after: Run) -> str:
    """The reason if two curves are different quantities, or not independent samples; otherwise empty."""
    own = [run.identities(first.facts["experiment"], first.facts["placement"]) for run in (before, after)]
    if own[0] & own[1]:
        return "both runs contain the same launches of this experiment, so they are not independent samples"
    for column, words in SAME.items():
        if first.facts[column] != second.facts[column]:
            return f"its {words} is {first.facts[column]} in {before.label} and {second.facts[column]} in {after.label}"
    return ""


def _absence(name: Name, run: Run) -> str:
    wanted = dict(zip(NAMES, name, strict=True))
    if missing := holes.why(run.launches, wanted["experiment"], wanted["placement"]):
        return f"in {run.label}, {missing}"
    panel = tuple(wanted[part] for part in PANEL)
    if any(tuple(curve.facts[part] for part in PANEL) == panel for curve in run.curves.values()):
        return f"{run.label} did not measure this arm"
    return f"{run.label} did not measure this metric under this protocol"


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
