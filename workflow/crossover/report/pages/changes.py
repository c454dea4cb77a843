"""The changes between two runs: the output of the code cells of `reports/changes.qmd`, and its chart."""

from functools import partial
from pathlib import Path

import altair as alt

from crossover.report.charts import figures, gallery, marks
from crossover.report.charts.arm_styles import ARMS, INK, NOISE
from crossover.report.pages.part import AnyPage, part, sentence
from crossover.report.runs import comparison
from crossover.report.runs.comparison import Comparison
from crossover.report.text import markup, numbers
from crossover.report.text.tables import Row, where

BLUE, ORANGE, GREEN, PINK = ARMS[:4]
COLOURS = {"better": GREEN, "worse": ORANGE, "mixed": PINK, "same": BLUE, "open": NOISE}
ROW_HEIGHT = 50
"""Pixels for the name of a curve, in two lines, and its interval below."""

MOST_DRAWN = 40
"""The most curves in the chart: those that changed, then those that most nearly did."""

NAME = "changes"
"""The name of the chart's files."""

SUBTITLE = "typical change of each arm's ratio to its reference over the points; shaded: the same"


class ComparisonPage(AnyPage):
    """The page on one comparison, with the tables in `folder`."""

    def __init__(self, folder: Path | None = None):
        super().__init__(folder, "compare BEFORE AFTER")
        self.found = comparison.load(self.folder)

    @part()
    def summary(self) -> str:
        """The page in a few sentences."""
        return comparison.summary(self.found)

    @sentence
    def before(self) -> str:
        """The folder of the first run."""
        return comparison.folder(self.found, "before")

    @sentence
    def after(self) -> str:
        """The folder of the second run."""
        return comparison.folder(self.found, "after")

    @sentence
    def bound(self) -> str:
        """The largest change that counts as the same."""
        return self.found.bound

    @part()
    def differences(self) -> str:
        """The differences between the runs."""
        return comparison.differences(self.found)

    @part()
    def chart(self) -> str:
        """The changes of the curves, with their intervals."""
        rows = drawn(self.found)
        if not rows:
            return ""
        description = f"Chart of the changes of {numbers.counted(len(rows), 'curve')}, with intervals."
        caption = (
            "The typical change of each arm's ratio to its reference, over its points. Lines are intervals over "
            f"launches, the shaded band is {self.found.bound}."
        )
        if more := len(self.found.competing) - len(rows):
            caption += f" {numbers.counted(more, 'more curve')} of the table: no interval, or further from a change."
        return gallery.alone(self.folder / "figures", NAME, caption, SUBTITLE, description, {})

    @part()
    def curves(self) -> str:
        """All curves, those that changed first."""
        return markup.table(comparison.lines(self.found))

    @part()
    def unpaired(self) -> str:
        """The curves and points that could not be compared, with the reasons."""
        return comparison.unpaired(self.found)


def draw(folder: Path) -> None:
    """Write the chart of the comparison in `folder` to its `figures`, as `figures.save_all` does."""
    rows = drawn(comparison.load(folder))
    figures.save_all({NAME: partial(chart, rows)} if rows else {}, folder / "figures")


def drawn(found: Comparison) -> list[Row]:
    """The curves in the chart."""
    return [row for row in found.competing if row["low"] is not None][:MOST_DRAWN]


def chart(rows: list[Row]) -> alt.LayerChart:
    """The typical change of each curve over its points, with its interval; the range of equivalence is shaded."""
    points = [
        {name: row[name] for name in ("experiment", "arm", "change", "low", "high", "verdict")}
        | {
            "where": where(row),
            "curve": f"{row['experiment']}: {row['arm']}\n{where(row)}",
            "is": numbers.ratio(row["change"], row["low"], row["high"]),
        }
        for row in rows
    ]
    within = rows[0]["within"]
    low = min(1 / within, *(point["low"] for point in points)) / 1.02
    high = max(within, *(point["high"] for point in points)) * 1.02
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    axis = alt.Axis(values=marks.log_ticks(low, high), format="~g", labelOverlap="greedy")
    heading = "ratio after ÷ ratio before"
    x = alt.X("change:Q", scale=scale, axis=axis, title=heading)
    # Names are above the intervals, because beside them they would take half the width of a column.
    y = alt.Y("curve:N", axis=None, sort=None, scale=alt.Scale(paddingOuter=0))
    colours = alt.Scale(domain=list(COLOURS), range=[colour.light for colour in COLOURS.values()])
    colour = alt.Color("verdict:N", scale=colours, legend=marks.legend(list(COLOURS)))
    tips = [*marks.tips({"curve": "curve", "is": "change"}), alt.Tooltip("verdict:N")]
    base = alt.Chart().encode(y=y, color=colour, tooltip=tips)
    bounds = alt.Chart(alt.Data(values=[{"low": 1 / within, "high": within}]))
    line = alt.Chart(alt.Data(values=[{"one": 1}]))
    named = alt.Chart().mark_text(align="left", baseline="bottom", dy=-10, lineBreak="\n", color=INK.light)
    layers = [
        bounds.mark_rect(opacity=1, fillOpacity=0.1, color=NOISE.light).encode(
            x=alt.X("low:Q", scale=scale), x2="high:Q"
        ),
        line.mark_rule(strokeDash=[5, 4], color=NOISE.light).encode(x="one:Q"),
        base.mark_rule(strokeWidth=2, yOffset=12).encode(x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q"),
        base.mark_point(filled=True, size=60, opacity=1, yOffset=12).encode(x=x),
        named.encode(x=alt.value(0), y=y, text="curve:N"),
    ]
    columns = [(field, field) for field in ("experiment", "arm", "low", "high", "verdict")]
    columns[2:2] = [("metric, protocol", "where"), (heading, "change")]
    return figures.finished(layers, points, columns, "Changes", SUBTITLE, ROW_HEIGHT * len(points) + 10)
