"""The ladder: the time of a round trip in every measured layer, from a copy in memory up to a task farm.

The layers come from different launches, so the ladder shows orders of magnitude, not smaller differences.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from crossover.config.amount import UNIT_BYTES
from crossover.design.experiments import Rung, declared
from crossover.design.protocol import holds
from crossover.records.rows import Summary
from crossover.report.charts import figures
from crossover.report.text.tables import Panel, load

NAME = "ladder"

PLACEMENT = "node"
"""The placement of all layers; between hosts there is no copy in memory."""


LAYERS = sorted(
    ((rung, name) for name, experiment in declared().items() for rung in experiment.rungs),
    key=lambda layer: layer[0].place,
)
"""Each layer with its experiment, from the bottom up. A farm's layer is the time per task of a flood, because users
rarely submit single tasks."""


def _layer(rung: Rung, experiment: str, summary: Sequence[Summary]) -> list[Summary]:
    """The summary's rows of this layer, converted for the ladder; empty if the layer was not measured."""
    wanted = (experiment, PLACEMENT, "round trip", rung.arm)
    own = [row for row in summary if (row.experiment, row.placement, row.metric, row.arm) == wanted]
    own = [row for row in own if holds(rung.where, row.keys)]
    first = min((row.protocol for row in own), default="")
    return [_converted(row, rung.name) for row in own if row.protocol == first]


def _converted(row: Summary, arm: str) -> Summary:
    """The row with its axis in bytes and its value in seconds."""
    values: list[Any] = [row.low, row.median, row.high]
    if row.unit != "s":
        # The upper end of a rate is the lower end of the time.
        values = [value and 1 / value for value in reversed(values)]
    low, median, high = values
    x = UNIT_BYTES[row.axis_unit] * row.x
    return replace(
        row, experiment=NAME, arm=arm, is_null_arm=False, ceiling=False, axis="message size", axis_unit="bytes", x=x,
        unit="s", better="lower", median=median, low=low, high=high,
    )  # fmt: skip


def panel(summary: Sequence[Summary]) -> Panel | None:
    """All measured layers as one panel, without a reference; None if there are fewer than two."""
    measured = [row for rung, experiment in LAYERS for row in _layer(rung, experiment, summary)]
    if len({row.arm for row in measured}) < 2:
        return None
    return Panel(NAME, "round trip", "every layer that was measured", PLACEMENT, measured, [], [])


def draw(results: Path, folder: Path) -> None:
    """Write the ladder's chart, from the joined tables in `results`, to `folder`; without layers, an empty folder."""
    shown = panel(load(results, ["summary"]).summary)
    figures.save_all({shown.name: partial(figures.curve, shown)} if shown else {}, folder)
