"""Sentences about the second sweep, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from crossover.planning.plan import read_settings
from crossover.report.base import numbers
from crossover.report.base.tables import Panel, Row


def refined(panel: Panel, launches: Iterable[Row]) -> str:
    """The launches and points of the second sweep for a panel's curves; empty if there are none."""
    seen = {row["launch"]: points for row in launches if (points := _points(panel, row))}
    if not seen:
        return ""
    launched, points = sorted(seen), sorted(set().union(*seen.values()))
    unit = panel.facts["axis_unit"]
    which = f"{launched[0]} to {launched[-1]}" if len(launched) > 1 else f"{launched[0]}"
    ends = [numbers.quantity(point, unit) for point in (points[0], points[-1])]
    return (
        f"A second sweep of {numbers.counted(len(launched), 'launch')} (number {which}) added "
        f"{numbers.counted(len(points), 'point')} from {ends[0]} to {ends[1]}, inside the crossovers of the first."
    )


def _points(panel: Panel, launch: Row) -> list[int]:
    """The points of a panel's axis that a launch of the second sweep measured."""
    here = (launch["experiment"], launch["placement"]) == (panel.experiment, panel.placement)
    if not here or launch["outcome"] != "measured":
        return []
    points: list[int] = read_settings(launch["settings"]).get("cells", {}).get(panel.protocol, [])
    return points
