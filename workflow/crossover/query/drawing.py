"""The report's charts for notebooks: with a width of their own, several below each other."""

import warnings
from collections.abc import Sequence

import altair as alt

from crossover.config import published
from crossover.errors import CrossoverError
from crossover.report.charts import figures
from crossover.report.text.tables import Panel

WIDTH = 480
"""In pixels, because a notebook's cell has no width of its own."""


def chart(panels: Sequence[Panel], ratios: bool) -> alt.LayerChart | alt.VConcatChart:
    """The charts of panels, below each other if there are several: of values, or of ratios."""
    datasets = published.read()
    draw = figures.ratio if ratios else figures.curve
    drawn = [draw(panel, datasets) for panel in panels if (panel.near_ratios if ratios else panel.values)]
    if not drawn:
        raise CrossoverError("no such curve has a value to draw; choose another metric or other keys")
    for each in drawn:
        each.width = WIDTH
    return drawn[0] if len(drawn) == 1 else _stacked(drawn)


def _stacked(drawn: Sequence[alt.LayerChart]) -> alt.VConcatChart:
    config = drawn[0].config
    for each in drawn:
        # Vega-Lite takes both from the outermost chart only.
        each.config = each.usermeta = alt.Undefined
    with warnings.catch_warnings():
        # One choice of arms and one zoom for all charts are wanted, and Altair warns of them.
        warnings.filterwarnings("ignore", "Automatically deduplicated", UserWarning)
        stacked: alt.VConcatChart = alt.vconcat(*drawn).resolve_scale(color="independent", shape="independent")
    stacked.config = config
    return stacked
