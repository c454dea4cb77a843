"""The course of curves through many runs: the output of the code cells of `reports/history.qmd`, and its charts."""

from functools import partial
from itertools import groupby
from pathlib import Path

import altair as alt

from crossover.report.base import markup, numbers
from crossover.report.base.tables import slug, where
from crossover.report.charts import arm_styles, axes, export, figures, gallery, marks
from crossover.report.charts.colours import NOISE
from crossover.report.pages.part import AnyPage, part
from crossover.report.runs import history
from crossover.report.runs.history import Course, History


class HistoryPage(AnyPage):
    """The page on one history, with the tables in `folder`."""

    def __init__(self, folder: Path | None = None):
        super().__init__(folder, "history RUN RUN ...")
        self.found = history.load(self.folder)

    @part()
    def summary(self) -> str:
        """The page in a few sentences."""
        return history.summary(self.found)

    @part()
    def runs(self) -> str:
        """Every run, and its differences from the run before."""
        return markup.table(history.run_lines(self.found))

    @part()
    def experiments(self) -> str:
        """A section for each experiment: a chart per metric and protocol, all curves in a table."""
        names = sorted({course[0]["experiment"] for course in self.found.competing})
        return "\n\n".join(map(self._section, names))

    def _section(self, experiment: str) -> str:
        figures = [
            self._figure(name, courses)
            for name, courses in groups(self.found).items()
            if courses[0][0]["experiment"] == experiment
        ]
        return "\n\n".join([f"# {experiment}", *figures, markup.table(history.lines(self.found, experiment))])

    def _figure(self, name: str, courses: list[Course]) -> str:
        first = courses[0][-1]
        arms = numbers.listed([course[0]["arm"] for course in courses])
        description = f"Chart of {where(first)}: {arms} against {first['reference']}, run by run, with intervals."
        caption = (
            f"{markup.capitalized(where(first))}: the ratio to `{first['reference']}`, averaged over "
            f"{numbers.counted(first['cells'], 'point')} ({first['better']} is better). Vertical lines are intervals "
            "over launches, horizontal lines are levels."
        )
        subtitle = f"ratio to {first['reference']}"
        return gallery.alone(self.folder / "figures", name, caption, subtitle, description, _styles(courses))


def draw(folder: Path) -> None:
    """Write the charts of the history in `folder` to its `figures`, as `export.draw` does."""
    charts = {name: partial(chart, courses) for name, courses in groups(history.load(folder)).items()}
    export.draw(charts, folder / "figures")


def groups(found: History) -> dict[str, list[Course]]:
    """The competing courses of one experiment, metric, protocol and placement, by the name of their common chart."""
    grouped = groupby(found.competing, lambda course: (course[0]["experiment"], where(course[0])))
    return {slug(" ".join(names)): list(courses) for names, courses in grouped}


def _styles(courses: list[Course]) -> dict[str, arm_styles.Look]:
    return arm_styles.of_rivals(courses[0][0]["reference"], [course[0]["arm"] for course in courses])


def chart(courses: list[Course]) -> alt.LayerChart:
    """Points with intervals for the runs, lines for the levels."""
    points = [
        {name: row[name] for name in ("ratio", "level", "low", "high", "folder")}
        | {"arm": row["arm"], "run": row["number"], "is": numbers.ratio(row["ratio"], row["low"], row["high"])}
        for course in courses
        for row in course
    ]
    reach = [end for point in points for end in (point["ratio"], point["low"], point["high"]) if end]
    low, high = min(*reach, 0.95) / 1.03, max(*reach, 1.05) * 1.03
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    axis = alt.Axis(values=axes.log_ticks(low, high), format="~g")
    title = f"ratio to {courses[0][0]['reference']}"
    ratio, level, end = (
        alt.Y(f"{field}:Q", scale=scale, axis=axis, title=title) for field in ("ratio", "level", "low")
    )
    encodings = marks.encodings(_styles(courses))
    x = alt.X("run:Q", axis=alt.Axis(tickMinStep=1, format="d"), title="run")
    base = alt.Chart().encode(x=x, color=encodings["color"])
    tips = marks.tips({"arm": "arm", "is": title, "folder": "run"})
    one = alt.Chart(alt.Data(values=[{"one": 1}]))
    layers = [
        one.mark_rule(strokeDash=[5, 4], color=NOISE.light).encode(y="one:Q"),
        base.mark_line(strokeWidth=2, interpolate="step", opacity=0.6).encode(y=level),
        base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5).encode(y=end, y2="high:Q"),
        base.mark_point(filled=True, size=45, opacity=1).encode(y=ratio, shape=encodings["shape"], tooltip=tips),
    ]
    columns = [("arm", "arm"), ("run", "run"), ("folder", "folder"), (title, "ratio")]
    columns += [(field, field) for field in ("low", "high", "level")]
    return figures.finished(layers, points, columns, where(courses[0][0]), title)
