"""The section of an experiment: its picture and its result, then all numbers in a folded block."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from IPython.display import Markdown

from crossover import experiments
from crossover.config import published
from crossover.experiments import declared
from crossover.report.charts import gallery
from crossover.report.pages.part import MISSING, OF_EXPERIMENT, AnyPage, part
from crossover.report.render import inputs
from crossover.report.text import choices, findings, holes, markup, tables
from crossover.report.text.tables import Panel, plain_first, shortened_column


class Experiments(AnyPage):
    """The parts of a page that each experiment has. `leads` has the leading metric of each, by default the schema's."""

    def __init__(self, leads: Mapping[str, str] | None, results: Path | None, command: str):
        super().__init__(results, command)
        self.leads = dict(leads) if leads is not None else experiments.leads()
        self.tables = tables.load(self.folder)
        self.published = published.read()

    def section(self, experiment: str) -> str:
        """The section under its title: its results, and the prose of its page.md."""
        known = declared().get(experiment)
        parts = [f"# {known.title if known else experiment} {{#sec-{experiment.replace('_', '-')}}}"]
        parts.append(str(self.experiment(experiment).data))
        if prose := experiments.prose(experiment, "page.md"):
            parts.append(markup.folded("How this was measured", prose, unfolded=False))
        elif known:
            parts.insert(1, known.about)
        return "\n\n".join(parts)

    def experiment(self, experiment: str) -> Markdown:
        """The whole section: result and picture of the leading metric, what this run leaves out, all numbers folded."""
        opening, folded = (
            "\n\n".join(filter(None, (str(made(experiment).data) for made in parts)))
            for parts in ((self.result, self.picture), (self.findings, self.verdicts, self.ratios, self.charts))
        )
        if folded:
            count = markup.entries(folded)
            about = f"All numbers: {count}" if count else "All numbers"
            folded = markup.folded(about, folded, unfolded=MISSING in folded)
        left_out = str(self.waiting(experiment).data)
        if left_out:
            left_out = markup.folded("What this run leaves out", left_out, unfolded=MISSING in left_out)
        return Markdown("\n\n".join(filter(None, [markup.explained(opening), folded, left_out])))

    @part()
    def result(self, experiment: str) -> str:
        """What to choose, question by question."""
        own = [question.sentence for question in choices.asked(self.tables) if question.panel.experiment == experiment]
        return "\n".join(f"- {sentence}" for sentence in own) if len(own) > 1 else "".join(own)

    @part(OF_EXPERIMENT)
    def picture(self, experiment: str) -> str:
        """The curves and ratios of the leading metric, plain curves first; or the reason why there are none."""
        panels = self._drawn(experiment)
        if panels:
            return self._gallery([panel for panel in panels if panel.metric == panels[0].metric])
        gap = f"::: {{.callout-warning}}\n{holes.gap(self.tables, experiment)}\n:::"
        return "" if experiment in self._without_tables() else gap

    @part()
    def charts(self, experiment: str) -> str:
        """A tab for each further metric, with its charts and its verdicts."""
        panels = self._drawn(experiment)
        others = dict.fromkeys(panel.metric for panel in panels if panel.metric != panels[0].metric)
        tabs = []
        for name in others:
            own = [panel for panel in panels if panel.metric == name]
            tabs.append(f"## {name}\n\n{self._gallery(own)}\n\n{_verdicts(own)}")
        shown = "\n\n".join(tabs)
        return f":::: {{.panel-tabset}}\n\n{shown}\n\n::::" if tabs else ""

    @part()
    def findings(self, experiment: str) -> str:
        """The findings of the leading metric's panels, in sentences."""
        launches = self.tables.launches
        paragraphs = [
            [findings.paragraph(panel), findings.second_sweep(panel, launches), findings.threshold_sentences(panel)]
            for panel in self._leading_panels(experiment)
        ]
        return "\n\n".join(" ".join(filter(None, sentences)) for sentences in paragraphs if sentences)

    @part()
    def verdicts(self, experiment: str) -> str:
        """The verdicts on the leading metric's crossovers and thresholds."""
        return _verdicts(self._leading_panels(experiment))

    @part()
    def ratios(self, experiment: str) -> str:
        """The leading metric's ratios at a few points of the axis, including its ends."""
        return _alike(findings.ratio_lines(self._leading_panels(experiment)))

    @part()
    def waiting(self, experiment: str) -> str:
        """The parts of an experiment that need a higher tier, a cluster, or a key of the configuration."""
        known = inputs.waiting()
        higher, elsewhere = (known.get(key, {}).get(experiment, {}) for key in ("tiers", "hosts"))
        across = holes.hosts(elsewhere, known.get("too_few_nodes", ""))
        here = {arm: [experiment] for arm, names in known.get("withheld", {}).items() if experiment in names}
        return " ".join(filter(None, [holes.tiers(higher), across, *holes.withheld(here)]))

    def _leading_panels(self, experiment: str) -> list[Panel]:
        return plain_first(self.tables.leading(experiment, self.leads.get(experiment)))

    def _drawn(self, experiment: str) -> list[Panel]:
        every = self.tables.panels(experiment, self.leads.get(experiment))
        return plain_first(panel for panel in every if panel.values or panel.near_ratios)

    def _gallery(self, panels: Sequence[Panel]) -> str:
        return gallery.captioned(self.folder / "figures", panels, self.published)

    def _without_tables(self) -> set[str]:
        """The experiments with a failed table; its missing rows do not mean that nothing was measured."""
        return {each.experiment for each in self.failures if each.kind == "table"}


def _verdicts(panels: Sequence[Panel]) -> str:
    """The tables of the crossovers and the thresholds of one metric."""
    below = (
        [line for panel in panels for line in lines(panel)]
        for lines in (findings.crossover_lines, findings.threshold_lines)
    )
    return "\n\n".join(filter(None, map(_alike, below)))


def _alike(lines: Sequence[Mapping[str, str]]) -> str:
    """A table of curves; the words that all their names share stand above it."""
    if not lines:
        return ""
    shared, short = shortened_column(lines)
    return "\n\n".join(filter(None, [shared, markup.table(short)]))
