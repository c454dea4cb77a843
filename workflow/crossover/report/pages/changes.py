"""The output of the code cells of `reports/changes.qmd`: the changes between two runs."""

from __future__ import annotations

from pathlib import Path

from IPython.display import Markdown

from crossover.report.base import markup, numbers
from crossover.report.base.tables import Row
from crossover.report.charts import gallery
from crossover.report.pages.part import AnyPage, part, sentence
from crossover.report.runs import comparison, comparison_figures, software


class ComparisonPage(AnyPage):
    """The page on one comparison, with the tables in `folder`."""

    def __init__(self, folder: Path | None = None):
        super().__init__(folder, "compare BEFORE AFTER")
        self.found = comparison.load(self.folder)

    @part()
    def summary(self) -> Markdown:
        """The page in a few sentences."""
        return Markdown(comparison.summary(self.found))

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
        return comparison.bound(self.found)

    @part()
    def differences(self) -> Markdown:
        """The differences between the runs' facts, in a sentence."""
        return Markdown(f"They differ in {software.differences(self.found.runs, 'before', 'after')}.")

    @part()
    def runs(self) -> Markdown:
        """The facts of both runs."""
        return Markdown(markup.pipe_table(["", "before", "after"], software.lines(self.found.runs, "before", "after")))

    @part()
    def experiments(self) -> Markdown:
        """A section for each experiment: charts, sentences on the changes, a table of all curves."""
        return Markdown("\n\n".join(self._section(name) for name in self.found.experiments))

    @part()
    def absolute(self) -> Markdown:
        """The arms' own values."""
        return Markdown(markup.pipe_table(comparison.ABSOLUTE, comparison.absolute_lines(self.found)))

    @part()
    def unpaired(self) -> Markdown:
        """The curves and points that could not be compared, with the reasons."""
        return Markdown(comparison.unpaired(self.found))

    def _section(self, experiment: str) -> str:
        changed = [row for row in self.found.changed if row["experiment"] == experiment]
        items = [f"- {comparison.sentence(self.found, row)}" for row in changed] or [
            "No curve of an arm was shown to have changed."
        ]
        parts = [
            f"## {experiment}",
            *(self._overview(*each) for each in comparison_figures.metrics(self.found) if each[0] == experiment),
            "\n".join(items),
            *map(self._along, changed),
            markup.pipe_table(comparison.CURVES, comparison.lines(self.found, experiment)),
        ]
        return "\n\n".join(parts)

    def _overview(self, experiment: str, metric: str) -> str:
        name = comparison_figures.overview_name(experiment, metric)
        rows = comparison_figures.curves_of(self.found, experiment, metric)
        description = f"Chart of the changes of {numbers.counted(len(rows), 'curve')} of {metric}, with intervals."
        caption = (
            f"{metric.capitalize()}: the typical change of each arm's ratio to its reference, over its points "
            f"({rows[0]['better']} is better). Lines are intervals over launches, the shaded band is {self.bound()}."
        )
        chart = gallery.alone(self._figures, name, comparison_figures.OVERVIEW_SUBTITLE, description, {})
        return markup.figure(name, chart, caption)

    def _along(self, row: Row) -> str:
        description = markup.plain(comparison.sentence(self.found, row))
        caption = (
            f"The change of `{row['arm']}` against `{row['reference']}` along the axis: {row['metric']}, "
            f"{row['protocol']}. The band is its interval at each point; grey is the null arm, which cannot change."
        )
        name = comparison_figures.along_name(row)
        styles = gallery.drawn([comparison_figures.along_panel(self.found, row)])
        chart = gallery.alone(self._figures, name, comparison_figures.along_subtitle(row), description, styles)
        return markup.figure(name, chart, caption)

    @property
    def _figures(self) -> Path:
        return self.folder / "figures"
