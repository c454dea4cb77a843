"""The marks of a chart, bands, lines and points of arms, crossovers, levels, published points; and its two axes.

Both axes are logarithmic, with round ticks that become denser on zooming in.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt

from crossover.config import published
from crossover.config.amount import UNIT_BYTES
from crossover.records.rows import Crossover, Ratio, Summary, Threshold
from crossover.report.charts import arm_styles
from crossover.report.charts.arm_styles import INK, NOISE
from crossover.report.text import findings, numbers
from crossover.report.text.tables import Panel

HIDDEN = "hidden"
"""The parameter that lists the labels of the arms that a reader has hidden."""
SHOWN = f"indexof({HIDDEN}, datum.arm) < 0"

MOST_LETTERS_IN_A_ROW = 46
"""The characters of a legend that fit into a journal's width."""

DIGITS = 5
"""Significant digits of numbers in a chart: finer than a pixel, and half as long as full precision."""

ZOOM = "zoom"
"""The parameter with the part of the axes that a reader has chosen; empty at first."""


Point = dict[str, Any]
"""The data of a mark."""


def point(panel: Panel, row: Summary | Ratio, value: float, unit: str) -> Point:
    """A chart's data of one cell: numbers to draw, and texts for the tooltip."""
    low, high = row.low, row.high
    return {
        "arm": arm_styles.label(panel, row.arm),
        "x": row.x,
        "value": _rounded(value),
        "low": None if low is None else _rounded(low),
        "high": None if high is None else _rounded(high),
        "launches": row.launches,
        "rounds": row.rounds,
        "at": numbers.quantity(row.x, row.axis_unit),
        "is": numbers.quantity(value, unit),
        "interval": f"{numbers.quantity(low, unit)} to {numbers.quantity(high, unit)}"
        if low is not None and high is not None
        else "none",
    }


def gaps(panel: Panel, points: Sequence[Point]) -> list[Point]:
    """Empty points that break an arm's line at places where the reference was measured but the arm was not."""
    everywhere = {point["x"] for point in points if point["arm"] == panel.reference}
    empty = []
    for label in dict.fromkeys(point["arm"] for point in points):
        own = {point["x"] for point in points if point["arm"] == label}
        empty += [{"arm": label, "x": x} for x in sorted(everywhere - own) if min(own) < x < max(own)]
    return empty


def arms(
    panel: Panel, points: Sequence[Point], x: alt.X, scale: alt.Scale, axis: alt.Axis, title: str
) -> list[alt.Chart]:
    """Bands, lines and points of all arms, drawn from the data of the whole chart."""
    drawn = {point["arm"] for point in points}
    styles = {label: look for label, look in arm_styles.of(panel).items() if label in drawn}
    # The points are data of the whole chart, so that its specification has them once, not once per layer. For the same
    # reason, only the last layer, that of the points, describes the axes.
    base = alt.Chart().encode(x="x:Q")
    y = alt.Y("value:Q", scale=scale, title=title)
    # Bands and lines have constant styles; encoded styles would change the symbols of the legend.
    layers = []
    for label, look in styles.items():
        own = base.transform_filter(alt.datum.arm == label)
        layers += [
            own.mark_area(opacity=1, fillOpacity=0.2, color=look.colour.light, clip=True).encode(
                y=alt.Y("low:Q", scale=scale, title=title), y2="high:Q"
            ),
            own.mark_line(strokeWidth=1.8, color=look.colour.light, strokeDash=list(look.dash), clip=True).encode(y=y),
        ]
    facts = {"arm": "arm", "at": panel.facts.axis, "is": title, "interval": "interval", "launches": "launches"}
    marked: alt.Chart = (
        # Named, because otherwise Altair numbers the charts of the process.
        base.properties(name="points")
        .mark_point(filled=True, size=42, opacity=1, clip=True)
        .encode(
            x=x,
            y=alt.Y("value:Q", scale=scale, axis=axis, title=title),
            **encodings(styles),
            tooltip=tips(facts | {"rounds": "rounds in all"}),
        )
        .add_params(_zoom())
    )
    return [*layers, marked]


def encodings(styles: Mapping[str, arm_styles.Look], field: str = "arm") -> dict[str, Any]:
    """Colours and shapes of points by this field, of arms by default, with the legend that explains them."""
    labels = list(styles)
    colours = alt.Scale(domain=labels, range=[look.colour.light for look in styles.values()])
    shapes = alt.Scale(domain=labels, range=[look.shape for look in styles.values()])
    shown = legend(labels)
    return {
        "color": alt.Color(f"{field}:N", scale=colours, legend=shown),
        "shape": alt.Shape(f"{field}:N", scale=shapes, legend=shown),
    }


def tips(titles: Mapping[str, str]) -> list[alt.Tooltip]:
    """A tooltip of these fields, with their titles."""
    return [alt.Tooltip(f"{field}:N", title=title) for field, title in titles.items()]


def legend(labels: Sequence[str]) -> alt.Legend:
    """A legend on top of the chart, in as many columns as fit into its width."""
    longest = max(map(len, labels))
    # In one row, a legend of many arms would be wider than its chart.
    columns = max(1, min(len(labels), MOST_LETTERS_IN_A_ROW // (longest + 3)))
    return alt.Legend(orient="top", title=None, symbolSize=60, offset=4, columns=columns)


def open_marks(panel: Panel, points: Sequence[published.Point], unit: str) -> list[alt.Chart]:
    """Published points, values in `unit` or ratios, in the colours and shapes of their arms, but hollow."""
    titles = {"arm": "arm", "at": panel.facts.axis, "is": panel.metric}
    rows = [
        {
            "arm": arm_styles.label(panel, point.arm),
            "x": point.x,
            "value": point.value,
            "at": numbers.quantity(point.x, panel.facts.axis_unit),
            "is": f"{numbers.quantity(point.value, unit)} (published)",
        }
        for point in points
    ]
    # Constants again, so that they do not change the legend.
    return [
        _own([row for row in rows if row["arm"] == label])
        .mark_point(
            filled=False, size=34, strokeWidth=1.2, opacity=0.8, color=look.colour.light, shape=look.shape, clip=True
        )
        .encode(x="x:Q", y="value:Q", tooltip=tips(titles))
        for label, look in arm_styles.of(panel).items()
        if any(row["arm"] == label for row in rows)
    ]


def level_marks(panel: Panel) -> list[alt.Chart]:
    """A dotted line at each level, with its value; on it, each arm's threshold: a diamond, a thick line as interval."""
    marks = []
    for level in findings.levels(panel):
        base = alt.Chart(alt.Data(values=[{"y": level, "text": numbers.percent(level)}])).encode(y="y:Q")
        rule = base.mark_rule(strokeDash=[2, 3], strokeWidth=1.2, color=NOISE.light, clip=True)
        named = base.mark_text(align="left", dx=3, dy=-6, color=INK.light, clip=True)
        marks += [rule, named.encode(x=alt.value(0), text="text:N")]
    places = [cell.x for cell in panel.summary]
    for row in panel.thresholds:
        if row.x is not None and row.arm != panel.null:
            base, colour = _place(panel, row, row.x, places, f"reaches {numbers.percent(row.level)} at", y=row.level)
            interval = base.mark_rule(strokeWidth=4, opacity=0.45, color=colour, clip=True)
            point = base.mark_point(filled=False, shape="diamond", size=90, strokeWidth=2, color=colour, clip=True)
            marks += [interval.encode(x="low:Q", x2="high:Q", y="y:Q"), point.encode(x="x:Q", y="y:Q")]
    return marks


def no_difference() -> alt.Chart:
    """The dashed line at a ratio of one."""
    line = alt.Chart(alt.Data(values=[{"y": 1}])).mark_rule(strokeDash=[5, 4], strokeWidth=1.2, color=NOISE.light)
    drawn: alt.Chart = line.encode(y="y:Q", description=alt.value("no difference"))
    return drawn


def crossovers(panel: Panel) -> list[alt.Chart]:
    """Each crossover: the interval as a pale column, the point as a line with a label."""
    places = [row.x for row in panel.ratios]
    marks = []
    rows = [(row, row.x) for row in panel.crossovers if row.x is not None and row.arm in panel.rivals]
    for order, (row, x) in enumerate(rows):
        text = f"{row.arm}: {numbers.quantity(x, row.axis_unit, 2)}"
        base, colour = _place(panel, row, x, places, "crosses", text=text)
        # On the side of the line with more space.
        left = x**2 > min(places) * max(places)
        side: dict[str, Any] = {"align": "right", "dx": -4} if left else {"align": "left", "dx": 4}
        named = base.mark_text(**side, dy=6 + 13 * order, baseline="top", fontWeight="bold", color=INK.light, clip=True)
        marks += [
            base.mark_rect(opacity=1, fillOpacity=0.12, color=colour, clip=True).encode(x="low:Q", x2="high:Q"),
            base.mark_rule(strokeWidth=1.4, color=colour, clip=True).encode(x="x:Q"),
            named.encode(x="x:Q", y=alt.value(0), text="text:N"),
        ]
    return marks


def _place(
    panel: Panel, row: Crossover | Threshold, x: float, places: Sequence[float], verb: str, **facts: Any
) -> tuple[alt.Chart, str]:
    """The data of a crossover or threshold, with a tooltip, and the arm's colour; open ends become the axis's ends."""
    first, last = min(places), max(places)
    low, high = first if row.low is None else row.low, last if row.high is None else row.high
    label = arm_styles.label(panel, row.arm)
    where = numbers.position(x, row.low, row.high, row.axis_unit)
    ends = {"low": min(max(low, first), last), "high": min(max(high, first), last)}
    here = {"arm": label, "x": x, **ends, "tooltip": f"{row.arm} {verb} {where}", **facts}
    return _own([here]).encode(tooltip="tooltip:N"), arm_styles.of(panel)[label].colour.light


def _own(values: list[Point]) -> alt.Chart:
    """Marks with their own data, which disappear when a reader hides their arm."""
    return alt.Chart(alt.Data(values=values)).transform_filter(SHOWN)


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def x_axis(panel: Panel, shown: Sequence[float] = ()) -> alt.X:
    """The axis of the experiment, extended to the places `shown`."""
    axis, unit = panel.facts.axis, panel.facts.axis_unit
    places = sorted({row.x for row in panel.cells} | set(shown))
    ticks = round_ticks(places)
    whole = ticks == places
    scale = alt.Scale(type="log", domain=[places[0], places[-1]], nice=False, padding=10)
    # A second prefix, such as 1k for a thousand microseconds, would look like another unit.
    counted = whole and unit not in numbers.SCALED_UNITS
    drawn = _with_ticks("x", ticks, places[0], places[-1], "," if counted else "~s")
    title = axis_title(axis, unit)
    factor, whole_unit = numbers.PREFIXED_UNITS.get(unit, (1, unit))
    if symbol := numbers.SCALED_UNITS.get(whole_unit):
        # As everywhere else: 100 kB, 10 ms.
        drawn.labelExpr = f"replace(format(datum.value * {factor}, '~s'), regexp('([a-zA-Zµ]?)$'), ' $1{symbol}')"
        title = axis
    elif unit in UNIT_BYTES:
        title = axis_title(axis, f"{unit} of {UNIT_BYTES[unit]} B")
    return alt.X("x:Q", title=title, scale=scale, axis=drawn)


def round_ticks(places: list[float]) -> list[float]:
    """Ticks for the points `places`, rising: a few whole ones are the best ticks; otherwise round numbers are."""
    whole = len(places) <= 8 and all(float(place).is_integer() for place in places)
    return places if whole else log_ticks(places[0], places[-1])


def y_axis(
    panel: Panel, points: Iterable[Point], margin: float, tick_format: str, shown: Sequence[float] = ()
) -> tuple[alt.Scale, alt.Axis]:
    """A scale for all points, the intervals of competing arms and the values `shown`; and its ticks."""
    looks = arm_styles.of(panel)
    # With two launches, the interval of a ceiling can be far wider than all others together.
    bands = [point for point in points if looks[point["arm"]] in arm_styles.COMPETING]
    reach = [
        *(*shown, *(point["value"] for point in points)),
        *(end for point in bands for end in (point["low"], point["high"]) if end),
    ]
    low, high = min(reach) / margin, max(reach) * margin
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    return scale, _with_ticks("value", log_ticks(low, high), low, high, tick_format)


def _zoom() -> Any:
    """Dragging moves the axes, the wheel with Ctrl or ⌘ zooms, a double click resets both."""
    return alt.selection_interval(name=ZOOM, bind="scales", zoom="wheel![event.ctrlKey || event.metaKey]")


def axis_title(name: str, unit: str) -> str:
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


def _with_ticks(field: str, ticks: list[float], low: float, high: float, tick_format: str) -> alt.Axis:
    decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    dense = sorted({*ticks, *(float(f"{step}e{decade}") for decade in decades for step in (1, 1.5, 2, 3, 5, 7))})
    values = alt.expr(f"{ZOOM}.{field} ? {dense} : {ticks}")
    return alt.Axis(values=values, format=tick_format, labelOverlap="greedy")
