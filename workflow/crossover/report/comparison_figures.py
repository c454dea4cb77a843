"""Charts of a comparison: how every curve of a metric changed, and along the axis those that did."""

from __future__ import annotations

from pathlib import Path

import altair as alt

from crossover.report import figures, quantities
from crossover.report.comparison import Comparison, load, title
from crossover.report.tables import Panel, Row, slug

COLOURS = {
    "better": figures.COLOURS[2],
    "worse": figures.COLOURS[1],
    "mixed": figures.COLOURS[3],
    "same": figures.COLOURS[0],
    "cannot tell": figures.NOISE_COLOUR,
}
ROW_HEIGHT = 22


def draw(folder: Path) -> None:
    """Write the charts of the comparison in `folder` to its `figures`."""
    found = load(folder)
    target = folder / "figures"
    target.mkdir(parents=True, exist_ok=True)
    for experiment, metric in metrics(found):
        figures.save(overview(curves_of(found, experiment, metric)), target, overview_name(experiment, metric))
    for row in found.changed:
        figures.save(along(found, row), target, along_name(row))


def metrics(found: Comparison) -> list[tuple[str, str]]:
    """Every experiment and metric of which an overview is drawn: those with an interval to show."""
    return sorted({(row["experiment"], row["metric"]) for row in found.competing if row["low"] is not None})


def curves_of(found: Comparison, experiment: str, metric: str) -> list[Row]:
    """The competing curves of one metric that have an interval."""
    wanted = (experiment, metric)
    return [row for row in found.competing if (row["experiment"], row["metric"]) == wanted and row["low"] is not None]


def overview_name(experiment: str, metric: str) -> str:
    """The stem of an overview's files."""
    return slug(f"{experiment} {metric}")


def along_name(row: Row) -> str:
    """The stem of the files of a curve's chart."""
    return slug(f"{row['experiment']} {row['placement']} {row['metric']} {row['protocol']} {row['arm']} along")


def overview(rows: list[Row]) -> alt.LayerChart:
    """The change of each curve on average over its points, with its interval; what counts as the same is shaded."""
    points = [
        {
            "curve": f"{title(row)}: {row['arm']}",
            "change": row["change"],
            "low": row["low"],
            "high": row["high"],
            "verdict": row["verdict"],
            "is": quantities.ratio(row["change"], row["low"], row["high"]),
        }
        for row in rows
    ]
    within = rows[0]["within"]
    low = min(1 / within, *(point["low"] for point in points)) / 1.02
    high = max(within, *(point["high"] for point in points)) * 1.02
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    axis = alt.Axis(values=figures.log_ticks(low, high), format="~g", labelOverlap="greedy")
    x = alt.X("change:Q", scale=scale, axis=axis, title="ratio after ÷ ratio before")
    y = alt.Y("curve:N", title=None, axis=alt.Axis(labelLimit=330))
    colour = alt.Color(
        "verdict:N",
        scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())),
        legend=alt.Legend(orient="top", title=None),
    )
    tips = [alt.Tooltip(f"{field}:N", title=title) for field, title in (("curve", "curve"), ("is", "change"))]
    base = alt.Chart().encode(y=y, color=colour, tooltip=[*tips, alt.Tooltip("verdict:N")])
    bounds = alt.Chart(alt.Data(values=[{"low": 1 / within, "high": within}]))
    line = alt.Chart(alt.Data(values=[{"one": 1}]))
    chart: alt.LayerChart = (
        alt.layer(
            bounds.mark_rect(opacity=0.1, color=figures.NOISE_COLOUR).encode(
                x=alt.X("low:Q", scale=scale), x2="high:Q"
            ),
            line.mark_rule(strokeDash=[5, 4], color=figures.NOISE_COLOUR).encode(x="one:Q"),
            base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q"),
            base.mark_point(filled=True, size=60, opacity=1).encode(x=x),
            data=alt.Data(values=points),
        )
        .properties(width="container", height=ROW_HEIGHT * len(points) + 10)
        .configure_view(stroke=None)
    )
    return chart


def along(found: Comparison, row: Row) -> alt.LayerChart:
    """The change of one curve along its axis, with the null arm's beside it."""
    names = ("experiment", "placement", "protocol", "metric")
    cells = [
        cell | {"ratio": cell["change"], "launches": f"{cell['launches_before']} and {cell['launches_after']}"}
        for cell in found.cells
        if all(cell[name] == row[name] for name in names) and (cell["arm"] == row["arm"] or cell["null"])
    ]
    panel = Panel(row["experiment"], row["metric"], row["protocol"], row["placement"], [], cells, [])
    better = "above" if row["better"] == "higher" else "below"
    subtitle = f"{row['arm']} ÷ {row['reference']}, after ÷ before; better is {better} the dashed line"
    return figures.around_one(panel, f"change of {row['metric']}", subtitle)
