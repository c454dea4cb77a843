"""The charts of an experiment: `curve`, the arms' own values, and `ratio`, the arms against the reference.

The file of a chart is its specification, with its points.
"""

import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import altair as alt

from crossover.config import published
from crossover.records import atomic
from crossover.report.charts import arm_styles, marks, overlay
from crossover.report.charts.arm_styles import GRID, INK
from crossover.report.text import findings, numbers
from crossover.report.text.tables import Panel, load

HEIGHT = 250
TITLE_LETTERS = 44
PUBLISHED = "; open marks: published"


def draw(tables: Path, folder: Path) -> None:
    """Write the figures of one experiment, from its folder of `tables`, to `folder`.

    Each panel gives `{name}` and `{name}-ratio`. An experiment without rows leaves an empty folder.
    """
    datasets = published.read()
    drawn: dict[str, Callable[[], alt.LayerChart]] = {}
    names = ("summary", "ratios", "crossovers", "thresholds", "launches")
    for panel in load(tables, names).every_panel:
        if panel.values:
            drawn[panel.name] = partial(curve, panel, datasets)
        if panel.near_ratios:
            drawn[f"{panel.name}-ratio"] = partial(ratio, panel, datasets)
    save_all(drawn, folder)


def curve(panel: Panel, datasets: Sequence[published.Dataset] = ()) -> alt.LayerChart:
    """Each arm's median over launches along the axis, with its interval as a band; published points as open marks."""
    points = [marks.point(panel, row, row.median, panel.unit) for row in panel.values]
    others = [point for dataset in datasets for point in overlay.over(dataset, panel)]
    # Only units take a prefix: a share of one half is 0.5, not 500 m.
    small = min(point["value"] for point in points) < 2
    tick_format = "~g" if not panel.unit or (small and panel.unit not in numbers.SCALED_UNITS) else "~s"
    shown = (*findings.levels(panel), *(point.value for point in others))
    scale, axis = marks.y_axis(panel, points, margin=1.1, tick_format=tick_format, shown=shown)
    x, title = marks.x_axis(panel, [point.x for point in others]), marks.axis_title(panel.metric, panel.unit)
    layers = [
        *marks.arms(panel, points, x, scale, axis, title),
        *marks.level_marks(panel),
        *marks.open_marks(panel, others, panel.unit),
    ]
    return _finish(panel, points, layers, title, curve_subtitle(panel, datasets))


def curve_subtitle(panel: Panel, datasets: Sequence[published.Dataset] = ()) -> str:
    """The metric of the curves, and whether higher or lower is better."""
    drawn_over = any(overlay.over(dataset, panel) for dataset in datasets)
    return f"{panel.metric}, {of_unit(panel)}{panel.facts.better} is better{PUBLISHED if drawn_over else ''}"


def of_unit(panel: Panel) -> str:
    """The unit as a prefix: a round trip is measured in seconds or in tasks/s."""
    return f"{panel.unit}: " if panel.unit else ""


def ratio(panel: Panel, datasets: Sequence[published.Dataset] = ()) -> alt.LayerChart:
    """Each arm divided by the reference, paired within rounds, with crossovers; published ratios as open marks."""
    others = [point for dataset in datasets for point in overlay.ratios_over(dataset, panel)]
    title = f"{panel.metric} ÷ that of {panel.reference}"
    points = [marks.point(panel, row, row.ratio, "") for row in panel.near_ratios]
    shown = (0.95, 1.05, *(point.value for point in others))
    scale, axis = marks.y_axis(panel, points, margin=1.03, tick_format="~g", shown=shown)
    x = marks.x_axis(panel, [point.x for point in others])
    layers = [
        *marks.crossovers(panel),
        marks.no_difference(),
        *marks.arms(panel, points, x, scale, axis, title),
        *marks.open_marks(panel, others, ""),
    ]
    return _finish(panel, points, layers, title, ratio_subtitle(panel, datasets))


def ratio_subtitle(panel: Panel, datasets: Sequence[published.Dataset] = ()) -> str:
    """The metric of the ratios, and which side of one is better."""
    better, _ = numbers.comparatives(panel.unit)
    side = "above" if panel.facts.better == "higher" else "below"
    drawn_over = any(overlay.ratios_over(dataset, panel) for dataset in datasets)
    text = f"relative to {panel.reference}; {better} is {side} the dashed line"
    return f"{text}{PUBLISHED if drawn_over else ''}"


def _finish(
    panel: Panel, points: list[marks.Point], layers: Sequence[alt.Chart], title: str, subtitle: str
) -> alt.LayerChart:
    labels = list(arm_styles.of(panel))
    ordered = sorted([*points, *marks.gaps(panel, points)], key=lambda point: (labels.index(point["arm"]), point["x"]))
    # The headings of the saved data, with their fields.
    columns = [
        ("arm", "arm"),
        (marks.axis_title(panel.facts.axis, panel.facts.axis_unit), "x"),
        (title, "value"),
        *((field, field) for field in ("low", "high", "launches", "rounds")),
    ]
    heading = alt.TitleParams(
        textwrap.wrap(panel.title, TITLE_LETTERS), subtitle=textwrap.wrap(subtitle, TITLE_LETTERS + 6), anchor="start"
    )
    # All at once, and the points last, because each further call copies the whole chart.
    drawn: alt.LayerChart = alt.LayerChart(
        layer=list(layers),
        transform=[alt.FilterTransform(marks.SHOWN)],
        width="container",
        height=HEIGHT,
        title=heading,
        usermeta={"columns": [*map(list, columns)]},
        config=style(),
    ).add_params(alt.param(name=marks.HIDDEN, value=[]))
    drawn.data = alt.Data(values=ordered)
    return drawn


def style() -> alt.Config:
    """The colours and sizes of all charts."""
    ink = INK.light
    return alt.Config(
        view=alt.ViewConfig(stroke=None),
        title=alt.TitleConfig(color=ink, subtitleColor=ink, fontSize=12, subtitleFontSize=10.5, offset=6),
        axis=alt.AxisConfig(
            gridColor=GRID.light,
            domainColor=ink,
            tickColor=ink,
            labelColor=ink,
            titleColor=ink,
            domainOpacity=0.5,
            tickOpacity=0.5,
            labelFontSize=10.5,
            titleFontSize=11,
            titleFontWeight="normal",
        ),
        legend=alt.LegendConfig(labelFontSize=10.5, labelColor=ink, columnPadding=12),
    )


def save_all(charts: Mapping[str, Callable[[], alt.LayerChart]], folder: Path) -> None:
    """Save the `charts`, by name, to `folder`. It appears when it is whole, so that a killed step leaves no half."""
    with atomic.replacing_folder(folder) as part:
        for name, chart in charts.items():
            save(chart(), part, name)


def save(chart: alt.LayerChart, folder: Path, name: str) -> None:
    """Write a chart to `folder` as {name}.vl.json; `images` draws it."""
    # Tests check that charts are valid, because that takes longer than drawing them.
    specification = chart.to_dict(validate=False)
    text = json.dumps(specification, indent=1, sort_keys=True, ensure_ascii=False)
    (folder / f"{name}.vl.json").write_text(text, encoding="utf-8")
