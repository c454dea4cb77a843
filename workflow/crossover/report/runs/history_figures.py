"""Charts of a history: the ratios of all arms of one metric and protocol, run by run, and their levels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from pathlib import Path

import altair as alt

from crossover.report.base import numbers
from crossover.report.base.tables import slug
from crossover.report.charts import arm_styles, axes, export, figures, marks
from crossover.report.charts.colours import NOISE
from crossover.report.runs.history_text import Course, History, load


def draw(folder: Path) -> None:
    """Write the charts of the history in `folder` to its `figures`, as `export.draw` does."""
    charts = {name(courses): partial(chart, courses) for courses in groups(load(folder))}
    export.draw(charts, folder / "figures")


def groups(found: History) -> Iterator[list[Course]]:
    """The competing courses that share a chart: those of one experiment, metric, protocol and placement."""
    for _, courses in groupby(found.competing, lambda course: (course.facts["experiment"], course.title)):
        yield list(courses)


def name(courses: list[Course]) -> str:
    """The file name of a chart, without suffix."""
    return slug(f"{courses[0].facts['experiment']} {courses[0].title}")


def styles(courses: list[Course]) -> dict[str, arm_styles.Look]:
    """The style of each arm, from its name."""
    return arm_styles.of_rivals(courses[0].facts["reference"], [course.facts["arm"] for course in courses])


def subtitle(courses: list[Course]) -> str:
    """The reference of the ratios."""
    return f"ratio to {courses[0].facts['reference']}"


def chart(courses: list[Course]) -> alt.LayerChart:
    """Points with intervals for the runs, lines for the levels."""
    points = [
        {
            "arm": course.facts["arm"],
            "run": row["number"],
            "ratio": row["ratio"],
            "level": row["level"],
            "low": row["low"],
            "high": row["high"],
            "is": numbers.ratio(row["ratio"], row["low"], row["high"]),
            "folder": row["folder"],
        }
        for course in courses
        for row in course.rows
    ]
    reach = [end for point in points for end in (point["ratio"], point["low"], point["high"]) if end]
    low, high = min(*reach, 0.95) / 1.03, max(*reach, 1.05) * 1.03
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    axis = alt.Axis(values=axes.log_ticks(low, high), format="~g")
    title = subtitle(courses)
    y = alt.Y("ratio:Q", scale=scale, axis=axis, title=title)
    encodings = marks.encodings(styles(courses))
    base = alt.Chart().encode(
        x=alt.X("run:Q", axis=alt.Axis(tickMinStep=1, format="d"), title="run"), color=encodings["color"]
    )
    tips = [
        alt.Tooltip(f"{field}:N", title=words) for field, words in (("arm", "arm"), ("is", title), ("folder", "run"))
    ]
    one = alt.Chart(alt.Data(values=[{"one": 1}]))
    layers = [
        one.mark_rule(strokeDash=[5, 4], color=NOISE.light).encode(y="one:Q"),
        base.mark_line(strokeWidth=2, interpolate="step", opacity=0.6).encode(
            y=alt.Y("level:Q", scale=scale, axis=axis, title=title)
        ),
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=1.5)
        .encode(y=alt.Y("low:Q", scale=scale, axis=axis, title=title), y2="high:Q"),
        base.mark_point(filled=True, size=45, opacity=1).encode(y=y, shape=encodings["shape"], tooltip=tips),
    ]
    columns = [(field, field) for field in ("arm", "run", "folder")] + [(title, "ratio")]
    columns += [(field, field) for field in ("low", "high", "level")]
    return figures.finished(layers, points, columns, courses[0].title, subtitle(courses))
