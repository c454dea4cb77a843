"""The published points in our charts: those that were measured under the same conditions as our curves."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from crossover.config.published import Dataset
from crossover.config.sources import NOT_STATED
from crossover.records.protocol import holds
from crossover.report.base.tables import Panel, Row
from crossover.report.charts import conditions
from crossover.report.sentences import citations

Unlike = dict[str, tuple[str, str]]
"""The conditions in which a dataset and a curve differ, each with the dataset's value and ours."""


def over(dataset: Dataset, panel: Panel) -> list[Row]:
    """The points of a dataset that belong to a panel, each with the name of our arm under the same conditions."""
    ours = _arms(dataset, panel)
    points = [point for point in dataset.points if point["metric"] == panel.metric and point["arm"] in ours]
    return [point | {"arm": ours[point["arm"]]} for point in points]


def ratios_over(dataset: Dataset, panel: Panel) -> list[Row]:
    """The points of rivals, divided by the mean of the reference's points of the same run and place."""
    points = over(dataset, panel)
    base: dict[tuple[float, float], list[float]] = {}
    for point in points:
        if point["arm"] == panel.reference:
            base.setdefault((point["run"], point["x"]), []).append(point["value"])
    return [
        point | {"value": point["value"] / fmean(base[point["run"], point["x"]])}
        for point in points
        if point["arm"] != panel.reference and (point["run"], point["x"]) in base
    ]


def absent(dataset: Dataset, panels: Sequence[Panel]) -> str:
    """The sentence about a dataset that no chart of a metric shows; empty if one does, or if it lacks the metric."""
    own = [panel for panel in panels if panel.experiment == dataset.experiment]
    measured = {point["metric"] for point in dataset.points} & {panel.metric for panel in own}
    if not measured or any(over(dataset, panel) for panel in own):
        return ""
    whose = f"The published numbers of {citations.cite(dataset.source)}"
    sentence = f"{whose} are not drawn, because no curve here was measured as they were"
    nearest = min(_differences(dataset, own), key=len, default={})
    if not nearest:
        return f"{sentence}."
    listed = ", ".join(f"{_words(key)} {theirs} instead of {ours}" for key, (theirs, ours) in nearest.items())
    return f"{sentence}: {listed} on the nearest."


def _arms(dataset: Dataset, panel: Panel) -> dict[str, str]:
    """Our arms by the dataset's names for them: arms that were measured under the conditions that it states."""
    if not _here(dataset, panel) or not holds(dataset.where, panel.keys):
        return {}
    names = {point["arm"] for point in dataset.points}
    # If several meet the stated conditions, the one with the fewest options comes last and stays.
    most_options_first = sorted(panel.arms, key=lambda arm: len(panel.entrants.get(arm, {})), reverse=True)
    alike = [ours for ours in most_options_first if not _unlike(dataset, panel, ours)]
    return {name: ours for ours in alike if (name := _published_name(panel, ours)) in names}


def _published_name(panel: Panel, arm: str) -> str:
    """The name of our arm in a dataset, where an entrant's options are conditions: its scheme, if it has one."""
    return str(panel.entrants.get(arm, {}).get("scheme", arm))


def _here(dataset: Dataset, panel: Panel) -> bool:
    """Whether a panel is of the dataset's experiment; all published numbers are of one host."""
    return panel.experiment == dataset.experiment and panel.placement != "nodes"


def _unlike(dataset: Dataset, panel: Panel, arm: str) -> Unlike:
    """The conditions that a dataset states and our curve does not have."""
    ours = conditions.of(panel.keys, arm, panel.entrants.get(arm, {}))
    pairs = {key: (dataset.conditions.get(key, NOT_STATED), here) for key, here in ours.items()}
    return {key: (theirs, here) for key, (theirs, here) in pairs.items() if theirs not in (NOT_STATED, here)}


def _differences(dataset: Dataset, panels: Sequence[Panel]) -> list[Unlike]:
    """The differences between a dataset and each curve of its arms."""
    theirs = {point["arm"] for point in dataset.points}
    return [
        found
        for panel in panels
        if _here(dataset, panel)
        for arm in panel.arms
        if _published_name(panel, arm) in theirs and (found := _unlike(dataset, panel, arm))
    ]


def _words(key: str) -> str:
    return key.replace("_", " ")
