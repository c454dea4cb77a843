"""What the code cells of `reports/history.qmd` show: the course of every curve through many runs."""

from __future__ import annotations

from pathlib import Path

from IPython.display import Markdown

from crossover import failure
from crossover.report import chance, course, course_figures, gallery, markup, quantities, told
from crossover.report.course import Course
from crossover.report.part import callout, part, sentence


class CoursePage:
    """The page on one history, whose tables lie in `folder`."""

    def __init__(self, folder: Path | None = None):
        self.folder = folder or told.results("history RUN RUN ...")
        self.found = course.load(self.folder)
        self.failures = [*failure.within(self.folder), *told.failures()]

    def script(self) -> Markdown:
        """What draws the charts, and how they look."""
        return Markdown(gallery.script())

    def failed(self) -> Markdown:
        """What the page lacks because it failed."""
        return Markdown(callout(self.failures))

    @part()
    def summary(self) -> Markdown:
        """The page in a few sentences."""
        return Markdown(course.summary(self.found))

    @sentence
    def odds(self) -> str:
        """Of how many findings one is chance's."""
        return chance.odds()

    @part()
    def runs(self) -> Markdown:
        """Every run, and what was new with it."""
        return Markdown(markup.pipe_table(course.RUNS, course.run_lines(self.found)))

    @part()
    def experiments(self) -> Markdown:
        """A section for each experiment: a chart per metric and protocol, all curves in a table."""
        return Markdown("\n\n".join(self._section(name) for name in self.found.experiments))

    def _section(self, experiment: str) -> str:
        figures = [
            self._figure(courses)
            for courses in course_figures.groups(self.found)
            if courses[0].facts["experiment"] == experiment
        ]
        table = markup.pipe_table(course.CURVES, course.lines(self.found, experiment))
        return "\n\n".join([f"# {experiment}", *figures, table])

    def _figure(self, courses: list[Course]) -> str:
        name, first = course_figures.name(courses), courses[0]
        arms = quantities.listed([one.facts["arm"] for one in courses])
        said = f"Chart of {first.title}: {arms} against {first.facts['reference']}, run by run, with intervals."
        caption = (
            f"{first.title[0].capitalize()}{first.title[1:]}: the ratio to `{first.facts['reference']}`, on average "
            f"over {quantities.counted(first.facts['cells'], 'point')}, {first.facts['better']} being better. Upright "
            "lines are intervals over launches, level lines the levels."
        )
        subtitle, styles = course_figures.subtitle(courses), course_figures.styles(courses)
        chart = gallery.alone(self.folder / "figures", name, subtitle, said, styles)
        return markup.figure(name, chart, caption)
