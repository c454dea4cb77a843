"""The ladder: the time of a round trip in every measured layer, from a copy in memory up to a task farm.

The layers come from different launches, so the ladder shows orders of magnitude, not smaller differences.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from crossover.design.advice import Aim
from crossover.design.protocol import Keys, holds
from crossover.experiments import aim
from crossover.records import failure
from crossover.report.base import numbers
from crossover.report.base.tables import Panel, Row, rows
from crossover.report.charts import export, figures

NAME = "ladder"

PLACEMENT = "node"
"""The placement of all layers; between hosts there is no copy in memory."""


@dataclass(frozen=True)
class Layer:
    """An arm of an experiment as a layer."""

    of: Aim
    where: Keys
    """Keys of its curve beside those of the aim; if several curves have them, the first protocol in alphabetical order
    is used."""
    name: str
    arm: str

    def rows(self, summary: list[Row]) -> list[Row]:
        """The summary's rows of this layer, converted for the ladder; empty if the layer was not measured."""
        wanted = {
            **self.of.where,
            "experiment": self.of.experiment,
            "placement": PLACEMENT,
            "metric": "round trip",
            "arm": self.arm,
        }
        own = [row for row in summary if holds({**wanted, **self.where}, row)]
        first = min((row["protocol"] for row in own), default="")
        return [_converted(row) | {"arm": self.name} for row in own if row["protocol"] == first]


def _converted(row: Row) -> Row:
    """The row with its axis in bytes and its value in seconds."""
    values = [row["low"], row["median"], row["high"]]
    if row["unit"] != "s":
        # The upper end of a rate is the lower end of the time.
        values = [value and 1 / value for value in reversed(values)]
    low, median, high = values
    units = {"axis": "message size", "axis_unit": "bytes", "unit": "s", "better": "lower"}
    cell = {"x": numbers.UNIT_BYTES[row["axis_unit"]] * row["x"], "median": median, "low": low, "high": high}
    return row | units | cell | {"experiment": NAME, "null": False, "ceiling": False}


# Not the re-sent array, which has no memcpy.
_array = partial(Layer, aim("arrays"), {})
_message = partial(Layer, aim("questions"), {"transport": "ipc"})
_farm = partial(Layer, aim("tasks with arrays"), {})

LAYERS = (
    _array("memcpy", "memcpy"),
    _array("raw Unix socket", "raw Unix socket"),
    _array("raw TCP", "raw TCP"),
    _array("MPI in C", "C"),
    _array("mpi4py Send", "Send"),
    _array("mpi4py send", "send"),
    _message("ZeroMQ in C", "C"),
    _message("pyzmq", "copy"),
    _farm("ipyparallel, per task", "leastload"),
    _farm("Dask, per task", "dask"),
    _farm("Foolscap, per task", "twisted"),
)
"""From the bottom up. A farm's layer is the time per task of a flood, because users rarely submit single tasks."""


def panel(summary: list[Row]) -> Panel | None:
    """All measured layers as one panel, without a reference; None if there are fewer than two."""
    measured = [row for layer in LAYERS for row in layer.rows(summary)]
    if len({row["arm"] for row in measured}) < 2:
        return None
    return Panel(NAME, "round trip", "every layer that was measured", PLACEMENT, measured, [], [])


def draw(results: Path, folder: Path) -> None:
    """Write the ladder's chart, from the joined tables in `results`, to `folder`; without layers, an empty folder.

    If this fails, the folder keeps the reason.
    """
    shown = None
    with failure.caught("figure", NAME) as failures:
        shown = panel(rows(results, "summary"))
    export.draw({shown.name: partial(figures.curve, shown)} if shown else {}, folder, failures=failures)


def rungs(shown: Panel) -> list[dict[str, str]]:
    """The lines of the ladder's table: one per layer, from the bottom up, at round sizes."""
    sizes = [10.0**power for power in range(1, 7)]
    curves = {layer.name: [row for row in shown.summary if row["arm"] == layer.name] for layer in LAYERS}
    return [
        {"layer": name} | {numbers.quantity(size, "bytes"): _nearest(rows, size) for size in sizes}
        for name, rows in curves.items()
        if rows
    ]


def _nearest(curve: list[Row], size: float) -> str:
    """The measured value nearest to `size`, with its place if that differs."""
    values = {row["x"]: row["median"] for row in curve}
    place = numbers.nearest(values, size)
    if place is None:
        return "–"
    time = numbers.quantity(values[place], "s")
    return time if place == size else f"{time} (at {numbers.quantity(place, 'bytes')})"
