"""The ratios of several panels at a few points of their axis, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from crossover.report.base import numbers
from crossover.report.base.places import sampled
from crossover.report.base.tables import Panel

SAMPLED_POINTS = 5


def table(panels: Sequence[Panel]) -> tuple[list[str], list[list[str]]]:
    """Header and lines: a line for each arm that was compared with its reference, at points that include both ends.

    Both are empty if no arm was compared.
    """
    curves = [(panel, arm) for panel in panels for arm in panel.compared]
    if not curves:
        return [], []
    shown = sampled(sorted({cell["x"] for panel, arm in curves for cell in panel.ratios_of(arm)}), SAMPLED_POINTS)
    unit = panels[0].facts["axis_unit"]
    lines = []
    for panel, arm in curves:
        cells = {cell["x"]: numbers.ratio(cell["ratio"], cell["low"], cell["high"]) for cell in panel.ratios_of(arm)}
        lines.append([panel.title, f"`{arm}` / `{panel.reference}`", *(cells.get(place, "–") for place in shown)])
    return ["protocol", "arms", *(numbers.quantity(place, unit) for place in shown)], lines
