"""The changes between two runs: the output of the code cells of `reports/changes.qmd`, and its charts."""

from functools import partial
from pathlib import Path

import altair as alt

from crossover.report.base import markup, numbers
from crossover.report.base.tables import PANEL, Panel, Row, grouped, slug, title
from crossover.report.charts import axes, export, figures, gallery, marks
from crossover.report.charts.colours import ARMS, INK, NOISE
from crossover.report.pages.part import AnyPage, part, sentence
from crossover.report.runs import comparison, software
from crossover.report.runs.comparison import Comparison

BLUE, ORANGE, GREEN, PINK = ARMS[:4]
COLOURS = {"better": GREEN, "worse": ORANGE, "mixed": PINK, "same": BLUE, "open": NOISE}
ROW_HEIGHT = 36
"""Pixels for the name of a curve and, below it, its interval."""

OVERVIEW_SUBTITLE = "typical change of each arm's ratio to its reference over the points; shaded: the same"


class ComparisonPage(AnyPage):
    """The page on one comparison, with the tables in `folder`."""

    def __init__(self, folder: Path | None = None):
        super().__init__(folder, "compare BEFORE AFTER")
        self.found = comparison.load(self.folder)
        self.overviews = overviews(self.found)

    @part()
    def summary(self) -> str:
        """The page in a few sentences."""
        return comparison.summary(self.found)

    @sentence
    def before(self) -> str:
        """The folder of the first run."""
        return software.folder(self.found.runs, "before")

    @sentence
    def after(self) -> str:
        """The folder of the second run."""
        return software.folder(self.found.runs, "after")

    @sentence
    def bound(self) -> str:
        """The largest change that counts as the same."""
        return comparison.bound(self.found.curves)

    @part()
    def differences(self) -> str:
        """The differences between the runs' facts, in a sentence."""
        return f"They differ in {software.differences(self.found.runs, 'before', 'after')}."

    @part()
    def runs(self) -> str:
        """The facts of both runs."""
        return markup.table(software.lines(self.found.runs, "before", "after"))

    @part()
    def experiments(self) -> str:
        """A section for each experiment: charts, sentences on the changes, a table of all curves."""
        return "\n\n".join(map(self._section, sorted({row["experiment"] for row in self.found.curves})))

    @part()
    def absolute(self) -> str:
        """The arms' own values."""
        return markup.table(comparison.absolute_lines(self.found))

    @part()
    def unpaired(self) -> str:
        """The curves and points that could not be compared, with the reasons."""
        return comparison.unpaired(self.found)

    def _section(self, experiment: str) -> str:
        changed = [row for row in self.found.changed if row["experiment"] == experiment]
        items = [f"- {comparison.sentence(self.found, row)}" for row in changed]
        overviews = {name: rows for name, rows in self.overviews.items() if rows[0]["experiment"] == experiment}
        parts = [
            f"## {experiment}",
            *(self._overview(name, rows) for name, rows in overviews.items()),
            "\n".join(items) or "No curve of an arm was shown to have changed.",
            *map(self._along, changed),
            markup.table(comparison.lines(self.found, experiment)),
        ]
        return "\n\n".join(parts)

    def _overview(self, name: str, rows: list[Row]) -> str:
        metric = rows[0]["metric"]
        description = f"Chart of the changes of {numbers.counted(len(rows), 'curve')} of {metric}, with intervals."
        caption = (
            f"{metric.capitalize()}: the typical change of each arm's ratio to its reference, over its points "
            f"({rows[0]['better']} is better). Lines are intervals over launches, the shaded band is "
            f"{comparison.bound(self.found.curves)}."
        )
        return gallery.alone(self.folder / "figures", name, caption, OVERVIEW_SUBTITLE, description, {})

    def _along(self, row: Row) -> str:
        description = markup.plain(comparison.sentence(self.found, row))
        caption = (
            f"The change of `{row['arm']}` against `{row['reference']}` along the axis: {row['metric']}, "
            f"{row['protocol']}. The band is its interval at each point; grey is the null arm, which cannot change."
        )
        styles = gallery.drawn([_along_panel(self.found, row)])
        name, subtitle = _along_name(row), _along_subtitle(row)
        return gallery.alone(self.folder / "figures", name, caption, subtitle, description, styles)


def draw(folder: Path) -> None:
    """Write the charts of the comparison in `folder` to its `figures`, as `export.draw` does."""
    found = comparison.load(folder)
    charts = {name: partial(overview, rows) for name, rows in overviews(found).items()}
    export.draw(charts | {_along_name(row): partial(along, found, row) for row in found.changed}, folder / "figures")


def overviews(found: Comparison) -> dict[str, list[Row]]:
    """The competing curves with an interval, by the name of their chart: one for each experiment and metric."""
    rows = (row for row in found.competing if row["low"] is not None)
    return {slug(" ".join(names)): own for names, own in sorted(grouped(rows, "experiment", "metric").items())}


def overview(rows: list[Row]) -> alt.LayerChart:
    """The typical change of each curve over its points, with its interval; the range of equivalence is shaded."""
    points = [
        {name: row[name] for name in ("change", "low", "high", "verdict")}
        | {
            "curve": f"{title(row['protocol'], row['placement'])}: {row['arm']}",
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
    colours = alt.Scale(domain=list(COLOURS), range=[colour.light for colour in COLOURS.values()])
    colour = alt.Color("verdict:N", scale=colours, legend=marks.legend(list(COLOURS)))
    tips = [*marks.tips({"curve": "curve", "is": "change"}), alt.Tooltip("verdict:N")]
    base = alt.Chart().encode(y=y, color=colour, tooltip=tips)
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
    return figures.around_one(_along_panel(found, row), f"change of {row['metric']}", _along_subtitle(row))


def _along_panel(found: Comparison, row: Row) -> Panel:
    """The changes of one curve and of the null arm as if they were ratios."""
    cells = [
        cell | {"ratio": cell["change"], "launches": f"{cell['launches_before']} and {cell['launches_after']}"}
        for cell in found.cells
        if all(cell[name] == row[name] for name in PANEL) and (cell["arm"] == row["arm"] or cell["null"])
    ]
    return Panel(row["experiment"], row["metric"], row["protocol"], row["placement"], [], cells, [])


def _along_name(row: Row) -> str:
    return slug(f"{row['experiment']} {row['placement']} {row['metric']} {row['protocol']} {row['arm']} along")


def _along_subtitle(row: Row) -> str:
    better = "above" if row["better"] == "higher" else "below"
    return f"{row['arm']} ÷ {row['reference']}, after ÷ before; better is {better} the dashed line"
