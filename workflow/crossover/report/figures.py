"""Every chart of the project: `curve`, an arm's own values, and `ratio`, an arm against the reference.

The charts are Vega-Lite, with the aggregated points inside. Their width is that of the page they stand in;
the `.svg` and `.png` beside them, for papers and slides, have a fixed one.
"""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from crossover import published
from crossover.report import overlay, quantities, thresholds
from crossover.report.tables import Panel, Row, panels, rows

# Okabe and Ito's colours, which readers with any colour vision can tell apart; black and yellow, which vanish
# on a dark or a light page, are left out. The reference is always the first.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "triangle-right")
DASHES = ((1, 0), (7, 3), (2, 2), (7, 2, 2, 2), (4, 4), (10, 3))
NOISE_COLOUR, NOISE_SHAPE, NOISE_DASH = "#8A8A8A", "cross", (3, 3)
CEILING_COLOUR = "#5F5F5F"
CEILING_SHAPES, CEILING_DASHES = ("triangle-left", "wedge", "arrow"), ((1, 3), (8, 4), (2, 6))

Style = tuple[str, str, tuple[int, ...]]
"""Colour, shape and dash of an arm."""

MOST_LABELS_IN_A_ROW = 4
HEIGHT = 270
STATIC_WIDTH = 480
STATIC_SCALE = 2


def draw(tables: Path, folder: Path) -> None:
    """Write the figures of one experiment, whose tables lie in `tables`, to `folder`.

    Each panel gives `{name}` and `{name}-ratio`, as .vl.json, .svg and .png. An experiment without a single row
    leaves an empty folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    datasets = published.read()
    for panel in panels(*(rows(tables, name) for name in ("summary", "ratios", "crossovers", "thresholds"))):
        if panel.summary:
            save(curve(panel, datasets), folder, panel.name)
        if panel.ratios:
            save(ratio(panel), folder, f"{panel.name}-ratio")


def curve(panel: Panel, datasets: Sequence[published.Dataset] = ()) -> alt.LayerChart:
    """Each arm's median over launches along the axis, with its interval as a band; published points as open marks."""
    # The null arm is the reference once more: here it would only hide it.
    points = [_point(panel, row, row["median"], panel.unit) for row in panel.summary if not row["null"]]
    others = [_published(panel, point) for dataset in datasets for point in overlay.over(dataset, panel)]
    # A prefix belongs to a unit: a share of one half is 0.5, not 500 m.
    tick_format = "~s" if panel.unit else "~g"
    levels = thresholds.levels(panel)
    shown = (*levels, *(point["value"] for point in others))
    scale, axis = _y(points, margin=1.1, tick_format=tick_format, shown=shown)
    lines = _lines(panel, points, scale, axis, _title(panel.metric, panel.unit), [point["x"] for point in others])
    layers = [*_level_marks(levels), *lines, *_open_marks(panel, others)]
    subtitle = f"{panel.metric}, {panel.facts['better']} is better{'; open marks: published' if others else ''}"
    return _finish(panel, points, layers, subtitle)


def ratio(panel: Panel) -> alt.LayerChart:
    """Each arm divided by the reference, paired within rounds: bands, the line of no difference, crossovers."""
    better, _ = quantities.comparatives(panel.unit)
    side = "above" if panel.facts["better"] == "higher" else "below"
    subtitle = f"relative to {panel.reference}; {better} is {side} the dashed line"
    return around_one(panel, f"{panel.metric} ÷ that of {panel.reference}", subtitle)


def around_one(panel: Panel, title: str, subtitle: str) -> alt.LayerChart:
    """The `ratios` of a panel around the line of no difference; `title` is that of the upright axis."""
    # How far away a ceiling is belongs to the curves: here it would press the rivals together.
    points = [_point(panel, row, row["ratio"], "") for row in panel.ratios if not row["ceiling"]]
    scale, axis = _y(points, margin=1.03, tick_format="~g", shown=(0.95, 1.05))
    layers = [
        *_crossover_marks(panel),
        alt.Chart(alt.Data(values=[{"y": 1}]))
        .mark_rule(strokeDash=[5, 4], strokeWidth=1.2, color=NOISE_COLOUR)
        .encode(y="y:Q", description=alt.value("no difference")),
        *_lines(panel, points, scale, axis, title),
    ]
    return _finish(panel, points, layers, subtitle)


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


# ---- the parts that both share


def _point(panel: Panel, row: Row, value: float, unit: str) -> Row:
    """What a chart carries of one cell: numbers to draw, and texts for the tooltip."""
    low, high = row["low"], row["high"]
    known = low is not None and high is not None
    return {
        "arm": _label(panel, row["arm"]),
        "x": row["x"],
        "value": value,
        "low": low,
        "high": high,
        "launches": row["launches"],
        "rounds": row["rounds"],
        "at": quantities.quantity(row["x"], row["axis_unit"]),
        "is": quantities.quantity(value, unit),
        "interval": f"{quantities.quantity(low, unit)} to {quantities.quantity(high, unit)}" if known else "none",
    }


def _published(panel: Panel, point: Row) -> Row:
    """What a chart carries of one published point."""
    return {
        "arm": _label(panel, point["arm"]),
        "x": point["x"],
        "value": point["value"],
        "at": quantities.quantity(point["x"], panel.facts["axis_unit"]),
        "is": f"{quantities.quantity(point['value'], panel.unit)} (published)",
    }


def _open_marks(panel: Panel, points: list[Row]) -> list[alt.Chart]:
    """Published points in the colours and shapes of the arms that they are of, but hollow and without a line."""
    titles = {"arm": "arm", "at": panel.facts["axis"], "is": panel.metric}
    # Constants again, lest they meddle with the legend.
    return [
        alt.Chart(alt.Data(values=[point for point in points if point["arm"] == label]))
        .mark_point(filled=False, size=34, strokeWidth=1.2, opacity=0.8, color=colour, shape=shape)
        .encode(
            x="x:Q",
            y="value:Q",
            tooltip=[alt.Tooltip(f"{field}:N", title=title) for field, title in titles.items()],
        )
        for label, (colour, shape, _) in _styles(panel).items()
        if any(point["arm"] == label for point in points)
    ]


def _level_marks(levels: Sequence[float]) -> list[alt.Chart]:
    """A dotted line at each level that was looked for, with its value."""
    marks = []
    for level in levels:
        base = alt.Chart(alt.Data(values=[{"y": level, "text": quantities.percent(level)}])).encode(y="y:Q")
        rule = base.mark_rule(strokeDash=[2, 3], strokeWidth=1.2, color=NOISE_COLOUR)
        text = base.mark_text(align="left", dx=3, dy=-6, color=NOISE_COLOUR).encode(x=alt.value(0), text="text:N")
        marks += [rule, text]
    return marks


def _label(panel: Panel, arm: str) -> str:
    if arm in panel.ceilings:
        return f"{arm} (ceiling)"
    return f"{panel.reference} again (null)" if arm == panel.null and panel.reference else arm


def _y(points: list[Row], margin: float, tick_format: str, shown: tuple[float, ...] = ()) -> tuple[alt.Scale, alt.Axis]:
    """A logarithmic scale that holds all points, their intervals and what must be `shown`; and its ticks."""
    reach = [*shown, *(end for point in points for end in (point["value"], point["low"], point["high"]) if end)]
    low, high = min(reach) / margin, max(reach) * margin
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    return scale, alt.Axis(values=log_ticks(low, high), format=tick_format)


def _lines(
    panel: Panel, points: list[Row], scale: alt.Scale, axis: alt.Axis, title: str, shown: Sequence[float] = ()
) -> list[alt.Chart]:
    """Bands, lines and points of all arms, on an axis that has room for the places `shown` too."""
    drawn = {point["arm"] for point in points}
    styles = {label: style for label, style in _styles(panel).items() if label in drawn}
    # The points are data of the whole chart, so that its specification holds them once and not once per layer.
    base = alt.Chart().encode(x=_x(panel, shown))
    y = alt.Y("value:Q", scale=scale, axis=axis, title=title)
    # Bands and lines take their look as constants: encoded, they would meddle with the symbols of the legend.
    layers = []
    for label, (colour, _, dash) in styles.items():
        own = base.transform_filter(alt.datum.arm == label)
        layers += [
            own.transform_filter("isValid(datum.low) && isValid(datum.high)")
            .mark_area(opacity=0.22, color=colour)
            .encode(y=alt.Y("low:Q", scale=scale, axis=axis, title=title), y2="high:Q"),
            own.mark_line(strokeWidth=1.8, color=colour, strokeDash=list(dash)).encode(y=y),
        ]
    return [*layers, _points(base, styles, panel.facts["axis"], title).encode(y=y)]


def _points(base: alt.Chart, styles: dict[str, Style], axis_name: str, title: str) -> alt.Chart:
    """The points of all arms, which also make the legend and the tooltips."""
    labels, (colours, shapes, _) = list(styles), zip(*styles.values(), strict=True)
    # A legend in one row would be wider than the page where arms are many.
    columns = alt.Undefined if len(labels) <= MOST_LABELS_IN_A_ROW else 3
    legend = alt.Legend(orient="top", title=None, symbolSize=70, offset=4, columns=columns)
    fields = {
        "arm": "arm",
        "at": axis_name,
        "is": title,
        "interval": "interval",
        "launches": "launches",
        "rounds": "rounds in all",
    }
    points: alt.Chart = base.mark_point(filled=True, size=42, opacity=1).encode(
        color=alt.Color("arm:N", scale=alt.Scale(domain=labels, range=list(colours)), legend=legend),
        shape=alt.Shape("arm:N", scale=alt.Scale(domain=labels, range=list(shapes)), legend=legend),
        tooltip=[alt.Tooltip(f"{field}:N", title=heading) for field, heading in fields.items()],
    )
    return points


def _title(name: str, unit: str) -> str:
    """What an axis shows, with its unit where that says more."""
    return name if unit in ("", name) else f"{name} ({unit})"


def _styles(panel: Panel) -> dict[str, Style]:
    """Colour, shape and dash of each arm, by its label; what does not compete is grey everywhere."""
    styles: dict[str, Style] = {}
    for order, arm in enumerate([panel.reference, *panel.rivals] if panel.reference else panel.arms):
        # Past the last colour the shapes and dashes are shifted against the colours, so that no two arms look alike.
        lap, index = divmod(order, len(COLOURS))
        shape, dash = (index + lap) % len(SHAPES), (index + 2 * lap) % len(DASHES)
        styles[_label(panel, arm)] = (COLOURS[index], SHAPES[shape], DASHES[dash])
    for order, arm in enumerate(panel.ceilings):
        index = order % len(CEILING_SHAPES)
        styles[_label(panel, arm)] = (CEILING_COLOUR, CEILING_SHAPES[index], CEILING_DASHES[index])
    if panel.null:
        styles[_label(panel, panel.null)] = (NOISE_COLOUR, NOISE_SHAPE, NOISE_DASH)
    return styles


def _x(panel: Panel, shown: Sequence[float]) -> alt.X:
    axis, unit = panel.facts["axis"], panel.facts["axis_unit"]
    places = sorted({row["x"] for row in [*panel.summary, *panel.ratios]} | set(shown))
    # A few measured points are themselves the best ticks; many are better served by round numbers.
    ticks = places if len(places) <= 8 else log_ticks(places[0], places[-1])
    return alt.X(
        "x:Q",
        title=_title(axis, unit),
        scale=alt.Scale(type="log", domain=[places[0], places[-1]], nice=False, padding=10),
        axis=alt.Axis(
            values=ticks,
            format="," if ticks is places and unit not in quantities.SCALED_UNITS else "~s",
            labelOverlap="greedy",
        ),
    )


def _crossover_marks(panel: Panel) -> list[alt.Chart]:
    """For each crossover that was located: its interval as a pale column, itself as a line with its place."""
    places = [row["x"] for row in panel.ratios]
    colours = {label: style[0] for label, style in _styles(panel).items()}
    marks = []
    found = [row for row in panel.crossovers if row["x"] is not None and row["arm"] in panel.rivals]
    for order, row in enumerate(found):
        colour, unit = colours[row["arm"]], row["axis_unit"]
        inside = [
            min(places) if row["low"] is None else row["low"],
            max(places) if row["high"] is None else row["high"],
        ]
        clipped = [min(max(end, min(places)), max(places)) for end in inside]
        here = {"x": row["x"], "low": clipped[0], "high": clipped[1], "text": quantities.quantity(row["x"], unit, 2)}
        here["tooltip"] = f"{row['arm']} crosses {quantities.position(row['x'], row['low'], row['high'], unit)}"
        base = alt.Chart(alt.Data(values=[here])).encode(tooltip="tooltip:N")
        marks += [
            base.mark_rect(opacity=0.13, color=colour).encode(x=alt.X("low:Q"), x2="high:Q"),
            base.mark_rule(strokeWidth=1.4, color=colour).encode(x=alt.X("x:Q")),
            base.mark_text(
                align="left", dx=4, dy=6 + 13 * order, baseline="top", fontWeight="bold", color=colour
            ).encode(x=alt.X("x:Q"), y=alt.value(0), text="text:N"),
        ]
    return marks


def _finish(panel: Panel, points: list[Row], layers: list[alt.Chart], subtitle: str) -> alt.LayerChart:
    labels = list(_styles(panel))
    ordered = sorted(points, key=lambda point: (labels.index(point["arm"]), point["x"]))
    # Beside another chart there is room for so many letters.
    lines = textwrap.wrap(panel.title, 44)
    title = alt.TitleParams(lines, subtitle=subtitle, anchor="start", fontSize=13, subtitleFontSize=11, offset=6)
    chart = alt.layer(*layers, data=alt.Data(values=ordered)).properties(width="container", height=HEIGHT, title=title)
    finished: alt.LayerChart = (
        chart.configure_view(stroke=None)
        .configure_axis(
            gridOpacity=0.35, domainOpacity=0.5, labelFontSize=11, titleFontSize=11, titleFontWeight="normal"
        )
        .configure_legend(labelFontSize=11, columnPadding=14)
    )
    return finished


def save(chart: alt.LayerChart, folder: Path, name: str) -> None:
    """Write a chart to `folder` as {name}.vl.json, .svg and .png."""
    specification: dict[str, Any] = chart.to_dict()
    (folder / f"{name}.vl.json").write_text(json.dumps(specification, indent=1, sort_keys=True, ensure_ascii=False))
    static = specification | {"width": STATIC_WIDTH, "background": "white"}
    svg = vl_convert.vegalite_to_svg(static)
    (folder / f"{name}.svg").write_text(svg)
    (folder / f"{name}.png").write_bytes(vl_convert.svg_to_png(svg, scale=STATIC_SCALE))
