"""The output of the code cells of `reports/index.qmd`: charts, tables and computed sentences, as Markdown.

Nothing here uses the network or gives HTML to the notebook: charts are raw blocks, drawn by one script that each page
contains once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from IPython.display import Markdown

from crossover.config import block_lengths as long_blocks
from crossover.config import published, schema
from crossover.records import record
from crossover.report.base import markup, numbers
from crossover.report.base import tables as corridor
from crossover.report.base.tables import Row
from crossover.report.charts import gallery, ladder
from crossover.report.pages import metric, summary
from crossover.report.pages.part import OF_EXPERIMENT, AnyPage, listed, part, sentence
from crossover.report.render import inputs
from crossover.report.sections import (
    block_lengths,
    certainty,
    claims,
    costs,
    crossovers,
    fits,
    machine,
    ratios,
    recommendations,
    refined,
    tiers,
)
from crossover.report.sections.machine import Experiment
from crossover.report.sentences import findings, holes, thresholds

NOT_COMPARED = "No arm could be compared with another."


class Page(AnyPage):
    """The report on one results folder. `leads` has the leading metric of each experiment, by default the schema's."""

    def __init__(self, leads: Mapping[str, str] | None = None, results: Path | None = None):
        super().__init__(results, "report RESULTS --page PAGE")
        self.described: dict[str, Any] = schema.read_schema()["properties"]["experiments"]["properties"]
        self.leads = dict(leads) if leads is not None else {name: lead(own) for name, own in self.described.items()}
        self.shown: set[str] = set()
        self.tables = corridor.load(self.folder)
        self.published = published.read()

    # ---- the whole page

    @part()
    def recommended(self) -> Markdown:
        """Recommended settings, with lines to paste; the reason for every other setting."""
        return Markdown(recommendations.section(self.tables.recommendations))

    @part()
    def summary(self) -> Markdown:
        """The page in a few sentences."""
        return Markdown(summary.sentences(self.tables, self.leads, partial=bool(inputs.waiting().get("partial"))))

    @part()
    def headlines(self) -> Markdown:
        """The result of each experiment in its leading metric, and the experiments that were not run."""
        return Markdown(findings.headlines(self.tables, self.leads))

    @part("crossovers")
    def crossovers(self) -> Markdown:
        """The crossover of each arm and its reference in the leading metric, or the verdict."""
        panels = self.tables.all_leading(self.leads)
        lines = [[f"`{panel.experiment}`", panel.metric, *line] for panel in panels for line in crossovers.lines(panel)]
        return _table(["experiment", "metric", *crossovers.HEADER], lines)

    @part("ranks")
    def machine(self) -> Markdown:
        """The machines of all ranks, one column per kind of host."""
        kinds = machine.kinds(self.tables.ranks)
        if not kinds:
            return Markdown("No rank recorded its machine.")
        header = ["what", *(numbers.listed(kind.hosts) for kind in kinds)]
        return Markdown(
            markup.pipe_table(header, [[name, *(kind.facts[name] for kind in kinds)] for name in machine.FACTS])
        )

    @part("launches", "measurements")
    def health(self) -> Markdown:
        """The run of each experiment, one column each: limits, time, reasons to stop, validity."""
        names = self.tables.experiments
        if not names:
            return Markdown("Nothing was launched.")
        measurements = self._measurements()
        facts = [self._facts(name, measurements) for name in names]
        lines = [[title, *map(read, facts)] for title, read in machine.HEALTH.items()]
        return Markdown(markup.pipe_table(["what", *(f"`{name}`" for name in names)], lines))

    @part()
    def holes(self) -> Markdown:
        """Every hole, with its reason and the command to retry; and the arms without any value."""
        missing = filter(None, [holes.absent(self._absent())])
        failed = filter(None, [listed(self.failures)])
        partial = filter(None, [holes.partial(inputs.waiting().get("partial", []))])
        tried = [*holes.paragraphs(self.tables), *missing, *holes.silent(self._validities())]
        text = "\n\n".join([*failed, *partial, *tried])
        return Markdown(text or "There are none: every launch has data.")

    @sentence
    def when(self) -> str:
        """The days on which launches began, as the start of a sentence."""
        return machine.when(self.tables.launches)

    # ---- certainty

    @part()
    def certainty(self) -> Markdown:
        """The smallest detectable effect and the precision of each experiment, in sentences."""
        text = certainty.sentences(self._leading(self.tables.sensitivity))
        return Markdown(text or NOT_COMPARED)

    @part("sensitivity", "needs")
    def sure(self) -> Markdown:
        """The smallest detectable effect, the precision and its target, for each arm."""
        lines = certainty.sure(self._leading(self.tables.sensitivity), self.tables.needs)
        return _table(certainty.SURE_HEADER, lines)

    @part("needs")
    def needs(self) -> Markdown:
        """The sources of each arm's noise, and the launches and rounds that the next run needs."""
        lines = certainty.needs(self._leading(self.tables.needs))
        return _table(certainty.NEEDS_HEADER, lines)

    @part("steady")
    def steady(self) -> Markdown:
        """The number of series with a steady state, and the launches with some that have none."""
        kinds = ["experiment", "placement", "launch", "state", "ratio_state"]
        table = record.read(self.folder / "steady.parquet", record.STEADY).group_by(kinds, use_threads=False)
        counts = [row | {"series": row["count_all"]} for row in table.aggregate([([], "count_all")]).to_pylist()]
        if not counts:
            return Markdown("Nothing was measured.")
        shown = markup.pipe_table(certainty.STEADY_HEADER, certainty.steady(counts))
        return Markdown("\n\n".join(filter(None, [shown, certainty.unsettled(counts)])))

    @part("groups")
    def groups(self) -> Markdown:
        """The points where launches form two groups, so that their mean is the value of neither."""
        table = record.read(self.folder / "groups.parquet", record.GROUPS).to_pylist()
        lines = certainty.groups(self._leading(table))
        return _table(certainty.GROUPS_HEADER, lines, "The launches form two groups nowhere.")

    @part()
    def block_lengths(self) -> Markdown:
        """The agreement of short blocks with long ones, for the experiments on this page."""
        rows = [row for row in long_blocks.read() if row.experiment in self.tables.experiments]
        lines = block_lengths.lines(rows)
        table = [markup.pipe_table(block_lengths.HEADER, lines)] if lines else []
        return Markdown("\n\n".join([*filter(None, [block_lengths.sentence(rows)]), *table]))

    @part("fits")
    def fits(self) -> Markdown:
        """The cost of a message and of a byte, for each curve of time against size."""
        return _table(fits.HEADER, fits.lines(self._leading(self.tables.fits)), "No time was measured against size.")

    def _leading(self, table: Sequence[Row]) -> list[Row]:
        return self.tables.of_leads(table, self.leads)

    # ---- one experiment

    def experiment(self, experiment: str) -> Markdown:
        """The charts, sentences and ratios of an experiment, and the parts of it that this run does not measure."""
        self.shown.add(experiment)
        parts = (self.charts, self.findings, self.ratios, self.waiting)
        return Markdown("\n\n".join(filter(None, (str(part(experiment).data) for part in parts))))

    @part(OF_EXPERIMENT)
    def charts(self, experiment: str) -> Markdown:
        """A tab for each metric: the arms' curves beside their ratios, protocol by protocol, then all verdicts."""
        every = self.tables.panels(experiment, self.leads.get(experiment))
        panels = [panel for panel in every if panel.values or panel.near_ratios]
        if not panels and experiment in self._without_tables():
            return Markdown("")
        if not panels:
            return Markdown(f"::: {{.callout-warning}}\n{holes.gap(self.tables, experiment)}\n:::")
        metrics = list(dict.fromkeys(panel.metric for panel in panels))
        groups = ([panel for panel in panels if panel.metric == name] for name in metrics)
        sections = [metric.section(self.folder / "figures", group, self.published) for group in groups]
        if len(sections) == 1:
            return Markdown(sections[0])
        tabs = "\n\n".join(f"## {name}\n\n{shown}" for name, shown in zip(metrics, sections, strict=True))
        return Markdown(f":::: {{.panel-tabset}}\n\n{tabs}\n\n::::")

    @part()
    def findings(self, experiment: str) -> Markdown:
        """The findings of the leading metric's panels, in sentences."""
        leading = self.tables.leading(experiment, self.leads.get(experiment))
        paragraphs = [
            [findings.findings(panel), refined.refined(panel, self.tables.launches), thresholds.sentences(panel)]
            for panel in leading
        ]
        return Markdown("\n\n".join(" ".join(filter(None, sentences)) for sentences in paragraphs))

    @part()
    def ratios(self, experiment: str) -> Markdown:
        """The leading metric's ratios at a few points of the axis, including its ends."""
        return _table(*ratios.table(self.tables.leading(experiment, self.leads.get(experiment))), "")

    @part()
    def costs(self, experiment: str) -> Markdown:
        """The cost of a send on each curve with throughputs and send rates."""
        return _table(*costs.table(self.tables.panels(experiment)), "No send was timed.")

    @part()
    def waiting(self, experiment: str) -> Markdown:
        """The parts of an experiment that need a higher tier or a cluster."""
        known = inputs.waiting()
        higher, elsewhere = (known.get(key, {}).get(experiment, {}) for key in ("tiers", "hosts"))
        return Markdown(" ".join(filter(None, [tiers.waiting(higher), tiers.hosts(elsewhere)])))

    @part()
    def claims(self) -> Markdown:
        """The verdicts on published claims, one line each."""
        return Markdown(claims.table(self.tables.claims) or "No claim was judged.")

    @part()
    def claims_told(self) -> Markdown:
        """The same in sentences, source by source."""
        return Markdown("\n\n".join(claims.paragraphs(self.tables.claims)))

    @part()
    def ladder(self) -> Markdown:
        """The round trip of every measured layer: a chart, and a table at a few sizes."""
        shown = ladder.panel(self.tables.summary)
        if shown is None:
            return Markdown("Too few layers were measured for a ladder.")
        chart = gallery.gallery(self.folder / "figures" / ladder.NAME, [shown])
        caption = "Round trip of every measured layer; lower is better. Bands are intervals over launches."
        return Markdown(f"{markup.figure(ladder.NAME, chart, caption)}\n\n{markup.pipe_table(*ladder.rungs(shown))}")

    @part()
    def others(self) -> Markdown:
        """A section for each experiment of this run that has none yet, opened by its title and description."""
        sections = []
        for name in self.tables.experiments:
            if name not in self.shown:
                own = self.described.get(name, {"title": name, "description": ""})
                parts = [f"# {own['title']}", own["description"], str(self.experiment(name).data)]
                sections.append("\n\n".join(filter(None, parts)))
        return Markdown("\n\n".join(sections))

    def _validities(self) -> list[Row]:
        """The validities of each arm's blocks, by experiment and protocol."""
        kinds = ["experiment", "protocol", "arm", "validity"]
        found = self._measurements().select([*kinds, "value"]).group_by(kinds, use_threads=False)
        return [row | {"values": row["value_count"]} for row in found.aggregate([("value", "count")]).to_pylist()]

    def _measurements(self) -> pa.Table:
        return record.read(self.folder / "measurements.parquet", record.MEASUREMENTS)

    def _facts(self, experiment: str, measurements: pa.Table) -> Experiment:
        own = measurements.filter(pc.equal(measurements["experiment"], experiment))
        cells = own.group_by(["placement", "launch", "protocol", "x", "stop"]).aggregate([])
        launches, ranks = (
            [row for row in table if row["experiment"] == experiment]
            for table in (self.tables.launches, self.tables.ranks)
        )
        return Experiment(launches, cells["stop"].to_pylist(), own["validity"].to_pylist(), ranks)

    def _absent(self) -> list[str]:
        return [name for name in self.leads if name not in {*self.tables.experiments, *self._without_tables()}]

    def _without_tables(self) -> set[str]:
        """The experiments with a failed table; its missing rows do not mean that nothing was measured."""
        return {each.experiment for each in self.failures if each.kind == "table"}


def lead(described: Mapping[str, Any]) -> str:
    """The leading metric, given an experiment's part of the schema: that of its second sweep, otherwise its first."""
    settings = described["properties"]
    return str(settings["refine_metric"]["default"] if "refine_metric" in settings else described["x-metrics"][0])


def _table(header: list[str], rows: list[list[str]], empty: str = NOT_COMPARED) -> Markdown:
    return Markdown(markup.pipe_table(header, rows) if rows else empty)
