"""The two axes of a chart, both logarithmic, with round ticks that become denser on zooming in."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt

from crossover.report.text import numbers
from crossover.report.text.tables import Panel, Row

ZOOM = "zoom"
"""The parameter with the part of the axes that a reader has chosen; empty at first."""


def x(panel: Panel, shown: Sequence[float] = ()) -> alt.X:
    """The axis of the experiment, extended to the places `shown`."""
    axis, unit = panel.facts["axis"], panel.facts["axis_unit"]
    places = sorted({row["x"] for row in [*panel.summary, *panel.ratios]} | set(shown))
    ticks = round_ticks(places)
    whole = ticks == places
    scale = alt.Scale(type="log", domain=[places[0], places[-1]], nice=False, padding=10)
    # A second prefix, such as 1k for a thousand microseconds, would look like another unit.
    counted = whole and unit not in numbers.SCALED_UNITS
    tick_format = "," if counted or unit in numbers.PREFIXED_UNITS else "~s"
    drawn = _axis("x", ticks, places[0], places[-1], tick_format)
    if unit in numbers.SCALED_UNITS:
        # As everywhere else: 100 kB.
        drawn.labelExpr = (
            f"replace(format(datum.value, '~s'), regexp('([a-zA-Zµ]?)$'), ' $1{numbers.SCALED_UNITS[unit]}')"
        )
    return alt.X("x:Q", title=axis if unit in numbers.SCALED_UNITS else title(axis, unit), scale=scale, axis=drawn)


def round_ticks(places: list[float]) -> list[float]:
    """Ticks for the points `places`, rising: a few whole ones are the best ticks; otherwise round numbers are."""
    whole = len(places) <= 8 and all(float(place).is_integer() for place in places)
    return places if whole else log_ticks(places[0], places[-1])


def y(
    points: Iterable[Row], margin: float, tick_format: str, shown: Sequence[float] = ()
) -> tuple[alt.Scale, alt.Axis]:
    """A scale for all points, their intervals and the values `shown`; and its ticks."""
    reach = [*shown, *(end for point in points for end in (point["value"], point["low"], point["high"]) if end)]
    low, high = min(reach) / margin, max(reach) * margin
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    return scale, _axis("value", log_ticks(low, high), low, high, tick_format)


def zoom() -> Any:
    """Dragging moves the axes, the wheel with Ctrl or ⌘ zooms, a double click resets both."""
    return alt.selection_interval(name=ZOOM, bind="scales", zoom="wheel![event.ctrlKey || event.metaKey]")


def title(name: str, unit: str) -> str:
    """The title of an axis, with its unit if that adds information."""
    return name if unit in ("", name) else f"{name} ({unit})"


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers between `low` and `high`, on the coarsest grid that puts at least four there."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    # A range of a few per cent needs steps far below its own decade.
    even = (size * 10.0**decade for decade in range(decades[-1], decades[0] - 4, -1) for size in (5, 2, 1))
    grids = [
        *([step * 10.0**decade for decade in decades for step in steps] for steps in ((1,), (1, 2, 5))),
        [step * 10.0**decade for decade in decades for step in (1, 1.5, 2, 3, 5, 7)],
        *([step * size for step in range(1, round(high / size) + 1)] for size in even if high / size < 1000),
    ]
    inside = [[float(f"{tick:.6g}") for tick in grid if low <= tick <= high] for grid in grids]
    return next((ticks for ticks in inside if len(ticks) >= 4), inside[-1])


def _axis(field: str, ticks: list[float], low: float, high: float, tick_format: str) -> alt.Axis:
    decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    dense = sorted({*ticks, *(float(f"{step}e{decade}") for decade in decades for step in (1, 1.5, 2, 3, 5, 7))})
    values = alt.expr(f"{ZOOM}.{field} ? {dense} : {ticks}")
    return alt.Axis(values=values, format=tick_format, labelOverlap="greedy")
