"""Pairs the comparable curves of two runs, and gives the reasons for all others."""

import numpy as np

from crossover.analyse.compare.run import Name, Run
from crossover.analyse.curves.curve import NAMES, PANEL, Curve, Row
from crossover.analyse.statistics.intervals import Floats
from crossover.records import failure, holes

SAME = {
    "reference": "reference",
    "unit": "unit",
    "axis": "axis",
    "axis_unit": "unit of the axis",
    "better": "better direction",
}
"""Facts that two curves of one name must share to be the same quantity, and their names in messages."""


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


def title(facts: Row) -> str:
    """A curve's arm, metric, protocol and placement, in words."""
    return f"{facts['arm']}, {facts['metric']}, {facts['protocol']} ({facts['placement']})"


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
    for each in run.failures:
        if each.experiment == wanted["experiment"]:
            return f"the {failure.names([each])} failed in {run.label}: {failure.reason(each)}"
    if missing := holes.why(run.launches, wanted["experiment"], wanted["placement"]):
        return f"in {run.label}, {missing}"
    panel = tuple(wanted[part] for part in PANEL)
    if any(tuple(curve.facts[part] for part in PANEL) == panel for curve in run.curves.values()):
        return f"{run.label} did not measure this arm"
    return f"{run.label} did not measure this metric under this protocol"
