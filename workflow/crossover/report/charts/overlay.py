"""The published points in our charts: those that were measured under the same conditions as our curves."""

import json
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from crossover.config.published import Dataset, Point
from crossover.config.sources import NOT_STATED
from crossover.design.protocol import Keys, holds
from crossover.report.text import claims
from crossover.report.text.tables import Panel

LONG_SECONDS = 1
LONG = f"{LONG_SECONDS} s or longer"
"""The condition `burst` of a burst that is at least as long as pyzmq's script counts."""

DEFAULTS = {"hwm": 0, "ssh": False}
"""Options of an entrant that sets none; the key `packer` holds that of the packer."""

NO_OPTIONS = ("farm", "scheme", "alone")
"""Settings of an entrant that are not compared."""


def over(dataset: Dataset, panel: Panel) -> list[Point]:
    """The points of a dataset that belong to a panel, each with the name of our arm under the same conditions."""
    ours = _arms(dataset, panel)
    points = [point for point in dataset.points if point.metric == panel.metric and point.arm in ours]
    return [point._replace(arm=ours[point.arm]) for point in points]


def ratios_over(dataset: Dataset, panel: Panel) -> list[Point]:
    """The points of rivals, divided by the mean of the reference's points of the same run and place."""
    points = over(dataset, panel)
    base: dict[tuple[float, float], list[float]] = {}
    for point in points:
        if point.arm == panel.reference:
            base.setdefault((point.run, point.x), []).append(point.value)
    return [
        point._replace(value=point.value / fmean(base[point.run, point.x]))
        for point in points
        if point.arm != panel.reference and (point.run, point.x) in base
    ]


def absent(dataset: Dataset, panels: Sequence[Panel]) -> str:
    """The sentence about a dataset that no chart of a metric shows; empty if one does, or if it lacks the metric."""
    own = [panel for panel in panels if panel.experiment == dataset.experiment]
    measured = {point.metric for point in dataset.points} & {panel.metric for panel in own}
    if not measured or any(over(dataset, panel) for panel in own):
        return ""
    words = claims.quoted(dataset.quote, dataset.locator)
    whose = f"The published numbers of {claims.authors(dataset.source)}, {words},"
    sentence = f"{whose} are not drawn, because no curve here was measured as they were"
    arms = {point.arm for point in dataset.points}
    # Of curves with as few differences, one that the dataset would be drawn over.
    ordered = sorted(own, key=lambda panel: not holds(dataset.where, panel.keys))
    differences = [
        _unlike(dataset, panel, arm)
        for panel in ordered
        for arm in panel.arms
        if _here(dataset, panel) and _published_name(panel, arm) in arms
    ]
    nearest = min(filter(None, differences), key=len, default={})
    if not nearest:
        return f"{sentence}."
    pairs = (f"{key.replace('_', ' ')} {theirs} instead of {ours}" for key, (theirs, ours) in nearest.items())
    return f"{sentence}: {', '.join(pairs)} on the nearest."


def _arms(dataset: Dataset, panel: Panel) -> dict[str, str]:
    """Our arms by the dataset's names for them: arms that were measured under the conditions that it states."""
    if not _here(dataset, panel) or not holds(dataset.where, panel.keys):
        return {}
    names = {point.arm for point in dataset.points}
    # If several meet the stated conditions, the one with the fewest options comes last and stays.
    most_options_first = sorted(panel.arms, key=lambda arm: len(panel.entrants.get(arm, {})), reverse=True)
    alike = [ours for ours in most_options_first if not _unlike(dataset, panel, ours)]
    return {name: ours for ours in alike if (name := _published_name(panel, ours)) in names}


def conditions(keys: Keys, arm: str, entrant: Mapping[str, Any]) -> dict[str, str]:
    """The conditions of one arm of a curve, by a dataset's names for them; `entrant` has the arm's settings, if any.

    >>> conditions({"pattern": "PUSH/PULL", "transport": "ipc", "polled": False}, "copy", {})
    {'pattern': 'PUSH/PULL', 'transport': 'ipc', 'polled': 'no'}
    >>> farm = {"farm": "ipyparallel", "scheme": "leastload", "hwm": 1}
    >>> conditions({"work": "empty", "engines": 4}, "one at a time", farm)
    {'work': 'empty', 'engines': '4', 'hwm': '1', 'ssh': 'no'}
    """
    found = {name: value for name, value in keys.items() if name not in ("burst_seconds", "entrant_options")}
    if "burst_seconds" in keys:
        found["burst"] = LONG if keys["burst_seconds"] >= LONG_SECONDS else f"{keys['burst_seconds']:g} s"
    if "work" in keys:
        options = DEFAULTS | dict(entrant) | json.loads(keys.get("entrant_options", "{}")).get(arm, {})
        found |= {name: value for name, value in options.items() if name not in NO_OPTIONS}
    words = {True: "yes", False: "no"}
    return {name: words[value] if isinstance(value, bool) else str(value) for name, value in found.items()}


def _published_name(panel: Panel, arm: str) -> str:
    """The name of our arm in a dataset, where an entrant's options are conditions: its scheme, if it has one."""
    return str(panel.entrants.get(arm, {}).get("scheme", arm))


def _here(dataset: Dataset, panel: Panel) -> bool:
    """Whether a panel is of the dataset's experiment; all published numbers are of one host."""
    return panel.experiment == dataset.experiment and panel.placement != "nodes"


def _unlike(dataset: Dataset, panel: Panel, arm: str) -> dict[str, tuple[str, str]]:
    """The conditions that a dataset states and our curve does not have, each with the dataset's value and ours."""
    ours = conditions(panel.keys, arm, panel.entrants.get(arm, {}))
    pairs = {key: (dataset.conditions.get(key, NOT_STATED), here) for key, here in ours.items()}
    return {key: (theirs, here) for key, (theirs, here) in pairs.items() if theirs not in (NOT_STATED, here)}
