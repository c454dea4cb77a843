"""Which published points are drawn over which of our panels."""

from __future__ import annotations

from crossover.published import Dataset
from crossover.report.tables import Panel, Row


def over(dataset: Dataset, panel: Panel) -> list[Row]:
    """The points of a dataset that belong to a panel: those of its metric and of arms that it has."""
    elsewhere = panel.experiment != dataset.experiment or panel.placement == "nodes"
    if elsewhere or not panel.protocol.startswith(dataset.curve):
        return []
    return [point for point in dataset.points if point["metric"] == panel.metric and point["arm"] in panel.arms]
