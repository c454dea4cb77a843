"""The ladder: the time of a round trip in every measured layer, from a copy in memory up to a task farm.

Each layer is the median of an arm of some experiment. The layers come from different launches, so the ladder shows
orders of magnitude; smaller differences are for the experiments themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from crossover.records import failure
from crossover.records.protocol import Keys, holds
from crossover.report.base import numbers
from crossover.report.base.places import nearest
from crossover.report.base.tables import Panel, Row, rows
from crossover.report.charts import export, figures

NAME = "ladder"

FLOAT64_BYTES = 8

PLACEMENT = "node"
"""The placement of all layers; between hosts there is no copy in memory."""


@dataclass(frozen=True)
class Layer:
    """An arm of an experiment as a layer: its curve, and how its axis and metric convert to bytes and seconds."""

    name: str
    experiment: str
    where: Keys
    """Keys of its curve; if several curves have them, the first protocol in alphabetical order is used."""
    arm: str
    size_bytes: Callable[[float], float]
    seconds: Callable[[float], float] = float

    def rows(self, summary: list[Row]) -> list[Row]:
        """The summary's rows of this layer, converted for the ladder; empty if the layer was not measured."""
        wanted = (self.experiment, PLACEMENT, "round trip", self.arm)
        own = [
            row
            for row in summary
            if tuple(row[key] for key in ("experiment", "placement", "metric", "arm")) == wanted
            and holds(self.where, row)
        ]
        first = min((row["protocol"] for row in own), default="")
        return [self._row(row) for row in own if row["protocol"] == first]

    def _row(self, row: Row) -> Row:
        # The upper end of a rate is the lower end of the time.
        ends = sorted(self.seconds(row[end]) for end in ("low", "high") if row[end] is not None)
        low, high = ends if len(ends) == 2 else (None, None)
        units = {"axis": "message size", "axis_unit": "bytes", "metric": "round trip", "unit": "s", "better": "lower"}
        names = {"experiment": NAME, "arm": self.name, "null": False, "ceiling": False}
        cell = {"x": self.size_bytes(row["x"]), "median": self.seconds(row["median"]), "low": low, "high": high}
        return row | units | names | cell


def _array(name: str, arm: str) -> Layer:
    # Not the re-sent array, which has no memcpy.
    where = {"object": "float64 array", "re_sent": False}
    return Layer(name, "mpi_pingpong", where, arm, lambda elements: FLOAT64_BYTES * elements)


def _message(name: str, arm: str) -> Layer:
    return Layer(name, "zmq_latency", {"pattern": "REQ/REP", "transport": "ipc", "legacy": False}, arm, float)


def _farm(name: str, arm: str) -> Layer:
    return Layer(name, "task_throughput", {}, arm, float, lambda rate: 1 / rate)


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
    found = {layer.name: layer.rows(summary) for layer in LAYERS}
    measured = [row for rung in found.values() for row in rung]
    if sum(map(bool, found.values())) < 2:
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


def rungs(shown: Panel) -> tuple[list[str], list[list[str]]]:
    """Header and lines of the ladder's table: a line per layer, from the bottom up, at round sizes."""
    sizes = [10.0**power for power in range(1, 7)]
    lines = []
    for layer in LAYERS:
        own = {row["x"]: row["median"] for row in shown.summary if row["arm"] == layer.name}
        if own:
            lines.append([layer.name, *(_nearest(own, size) for size in sizes)])
    return ["layer", *(numbers.quantity(size, "bytes") for size in sizes)], lines


def _nearest(values: dict[float, float], size: float) -> str:
    """The measured value nearest to `size`, with its place if that differs."""
    place = nearest(values, size)
    if place is None:
        return "–"
    time = numbers.quantity(values[place], "s")
    return time if place == size else f"{time} (at {numbers.quantity(place, 'bytes')})"
