"""Charts of a comparison: the change of every curve of a metric, and of changed curves along their axis."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import altair as alt

from crossover.report.base import numbers
from crossover.report.base.tables import Panel, Row, slug, title
from crossover.report.charts import axes, export, figures, marks
from crossover.report.charts.colours import ARMS, INK, NOISE
from crossover.report.runs.comparison import Comparison, load

BLUE, ORANGE, GREEN, PINK = ARMS[:4]
COLOURS = {"better": GREEN, "worse": ORANGE, "mixed": PINK, "same": BLUE, "undecided": NOISE}
ROW_HEIGHT = 36
"""Pixels for the name of a curve and, below it, its interval."""

OVERVIEW_SUBTITLE = "typical change of each arm's ratio to its reference over the points; shaded: the same"


def draw(folder: Path) -> None:
    """Write the charts of the comparison in `folder` to its `figures`, as `export.draw` does."""
    found = load(folder)
    charts = {overview_name(*each): partial(overview, curves_of(found, *each)) for each in metrics(found)}
    export.draw(charts | {along_name(row): partial(along, found, row) for row in found.changed}, folder / "figures")


def metrics(found: Comparison) -> list[tuple[str, str]]:
    """The experiments and metrics with an overview: those with any interval."""
    return sorted({(row["experiment"], row["metric"]) for row in found.competing if row["low"] is not None})


def curves_of(found: Comparison, experiment: str, metric: str) -> list[Row]:
    """The competing curves of one metric that have an interval."""
    wanted = (experiment, metric)
    return [row for row in found.competing if (row["experiment"], row["metric"]) == wanted and row["low"] is not None]


def overview_name(experiment: str, metric: str) -> str:
    """The file name of an overview, without suffix."""
    return slug(f"{experiment} {metric}")


def along_name(row: Row) -> str:
    """The file name of a curve's chart, without suffix."""
    return slug(f"{row['experiment']} {row['placement']} {row['metric']} {row['protocol']} {row['arm']} along")


def overview(rows: list[Row]) -> alt.LayerChart:
    """The typical change of each curve over its points, with its interval; the range of equivalence is shaded."""
    points = [
        {
            "curve": f"{title(row['protocol'], row['placement'])}: {row['arm']}",
            "change": row["change"],
            "low": row["low"],
            "high": row["high"],
            "verdict": row["verdict"],
            "is": numbers.ratio(row["change"], row["low"], row["high"]),
        }
        for row in rows
    ]
    within = rows[0]["within"]
    low = min(1 / within, *(point["low"] for point in points)) / 1.02
    high = max(within, *(point["high"] for point in points)) * 1.02
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    axis = alt.Axis(values=axes.log_ticks(low, high), format="~g", labelOverlap="greedy")
    heading = "ratio after ÷ ratio before"
    x = alt.X("change:Q", scale=scale, axis=axis, title=heading)
    # Names are above the intervals, because beside them they would take half the width of a column.
    y = alt.Y("curve:N", axis=None, scale=alt.Scale(paddingOuter=0))
    verdicts = list(COLOURS)
    colour = alt.Color(
        "verdict:N",
        scale=alt.Scale(domain=verdicts, range=[COLOURS[verdict].light for verdict in verdicts]),
        legend=marks.legend(verdicts),
    )
    tips = [alt.Tooltip(f"{field}:N", title=words) for field, words in (("curve", "curve"), ("is", "change"))]
    base = alt.Chart().encode(y=y, color=colour, tooltip=[*tips, alt.Tooltip("verdict:N")])
    bounds = alt.Chart(alt.Data(values=[{"low": 1 / within, "high": within}]))
    line = alt.Chart(alt.Data(values=[{"one": 1}]))
    named = alt.Chart().mark_text(align="left", baseline="bottom", dy=-5, color=INK.light)
    layers = [
        bounds.mark_rect(opacity=1, fillOpacity=0.1, color=NOISE.light).encode(
            x=alt.X("low:Q", scale=scale), x2="high:Q"
        ),
        line.mark_rule(strokeDash=[5, 4], color=NOISE.light).encode(x="one:Q"),
        base.mark_rule(strokeWidth=2, yOffset=6).encode(x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q"),
        base.mark_point(filled=True, size=60, opacity=1, yOffset=6).encode(x=x),
        named.encode(x=alt.value(0), y=y, text="curve:N"),
    ]
    columns = [("curve", "curve"), (heading, "change"), *((field, field) for field in ("low", "high", "verdict"))]
    about = f"{rows[0]['experiment']}: {rows[0]['metric']}"
    return figures.finished(layers, points, columns, about, OVERVIEW_SUBTITLE, ROW_HEIGHT * len(points) + 10)


def along(found: Comparison, row: Row) -> alt.LayerChart:
    """The change of one curve along its axis, with the null arm's beside it."""
    return figures.around_one(along_panel(found, row), f"change of {row['metric']}", along_subtitle(row))


def along_panel(found: Comparison, row: Row) -> Panel:
    """The changes of one curve and of the null arm as if they were ratios."""
    names = ("experiment", "placement", "protocol", "metric")
    cells = [
        cell | {"ratio": cell["change"], "launches": f"{cell['launches_before']} and {cell['launches_after']}"}
        for cell in found.cells
        if all(cell[name] == row[name] for name in names) and (cell["arm"] == row["arm"] or cell["null"])
    ]
    return Panel(row["experiment"], row["metric"], row["protocol"], row["placement"], [], cells, [])


def along_subtitle(row: Row) -> str:
    """The quantity that changed, and which side of one is better."""
    better = "above" if row["better"] == "higher" else "below"
    return f"{row['arm']} ÷ {row['reference']}, after ÷ before; better is {better} the dashed line"
