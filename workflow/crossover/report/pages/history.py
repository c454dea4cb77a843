"""The output of the code cells of `reports/history.qmd`: the course of every curve through many runs."""

from __future__ import annotations

from pathlib import Path

from IPython.display import Markdown

from crossover.report.base import markup, numbers
from crossover.report.charts import gallery
from crossover.report.pages.part import AnyPage, part
from crossover.report.runs import history_figures, history_text
from crossover.report.runs.history_text import Course


class HistoryPage(AnyPage):
    """The page on one history, with the tables in `folder`."""

    def __init__(self, folder: Path | None = None):
        super().__init__(folder, "history RUN RUN ...")
        self.found = history_text.load(self.folder)

    @part()
    def summary(self) -> Markdown:
        """The page in a few sentences."""
        return Markdown(history_text.summary(self.found))

    @part()
    def runs(self) -> Markdown:
        """Every run, and its differences from the run before."""
        return Markdown(markup.pipe_table(history_text.RUNS, history_text.run_lines(self.found)))

    @part()
    def experiments(self) -> Markdown:
        """A section for each experiment: a chart per metric and protocol, all curves in a table."""
        return Markdown("\n\n".join(self._section(name) for name in self.found.experiments))

    def _section(self, experiment: str) -> str:
        figures = [
            self._figure(courses)
            for courses in history_figures.groups(self.found)
            if courses[0].facts["experiment"] == experiment
        ]
        table = markup.pipe_table(history_text.CURVES, history_text.lines(self.found, experiment))
        return "\n\n".join([f"# {experiment}", *figures, table])

    def _figure(self, courses: list[Course]) -> str:
        name, first = history_figures.name(courses), courses[0]
        arms = numbers.listed([one.facts["arm"] for one in courses])
        description = f"Chart of {first.title}: {arms} against {first.facts['reference']}, run by run, with intervals."
        caption = (
            f"{markup.capitalized(first.title)}: the ratio to `{first.facts['reference']}`, averaged "
            f"over {numbers.counted(first.facts['cells'], 'point')} ({first.facts['better']} is better). Vertical "
            "lines are intervals over launches, horizontal lines are levels."
        )
        subtitle, styles = history_figures.subtitle(courses), history_figures.styles(courses)
        chart = gallery.alone(self.folder / "figures", name, subtitle, description, styles)
        return markup.figure(name, chart, caption)
