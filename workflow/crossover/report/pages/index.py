"""The output of the code cells of `reports/index.qmd`: charts, tables and computed sentences, as Markdown.

The section of an experiment has its picture and its result, then all numbers in a folded block.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from html import escape
from pathlib import Path

from crossover.config import published
from crossover.design import experiments
from crossover.design.experiments import declared
from crossover.errors import printable
from crossover.records import json_text, record
from crossover.report.charts import gallery, ladder, overlay, overview, verdicts
from crossover.report.pages import heading
from crossover.report.pages.parts import AnyPage, part, waiting
from crossover.report.text import (
    choices,
    claims,
    findings,
    holes,
    machine,
    markup,
    recommendations,
    tables,
)
from crossover.report.text.tables import Panel, plain_first
from crossover.report.tournament import charts as matrices
from crossover.report.tournament import words as tournaments

ANSWERS = 1
"""The most questions of an experiment that are answered above its picture."""
PROTOCOLS = "docs/experiments.md"
NOT_COMPARED = "No arm could be compared with another."


class Page(AnyPage):
    """The report on one results folder. `leads` has the leading metric of each experiment, by default the schema's."""

    def __init__(self, leads: Mapping[str, str] | None = None, results: Path | None = None):
        super().__init__(results)
        self.leads = dict(leads) if leads is not None else experiments.leads()
        self.tables = tables.load(self.folder)
        self.published = published.read()

    # ---- the whole page

    @part
    def recommended(self) -> str:
        """Recommended settings, with lines to paste; the reason for every other setting."""
        return recommendations.section(self.tables)

    @part
    def cards(self) -> str:
        """The strongest numbers of the run, each with its meaning and where it holds."""
        shown = heading.cards(self.tables)
        return markup.raw(shown) if shown else ""

    @part
    def map(self) -> str:
        """The arm to choose at each part of the axis of each question."""
        shown = overview.picture(self.tables, overview.missing(self.tables))
        return markup.figure("map", shown, overview.CAPTION) if shown else NOT_COMPARED

    @part
    def summary(self) -> str:
        """The data behind the choices, and how sure they are."""
        partial = bool(waiting().get("partial"))
        return heading.summary(self.tables, partial=partial)

    @part
    def shared(self) -> str:
        """A warning if other jobs may have run on the nodes of launches; empty without such launches."""
        words = machine.shared_hosts(self.tables.launches)
        return f"::: {{.callout-warning}}\n{words}\n:::" if words else ""

    @part
    def machine(self) -> str:
        """The machines of all ranks, one column per kind of host."""
        return _columns(machine.kinds(self.tables.ranks), "No rank recorded its machine.")

    @part
    def health(self) -> str:
        """The run of each experiment, one column each: limits, time, reasons to stop, validity."""
        crowded, allocated = machine.crowded(self.tables.ranks), machine.allocated(self.tables.launches)
        columns = {
            f"`{name}`": self._health(name)
            | ({machine.ALLOCATED: allocated.get(name, "–")} if allocated else {})
            | ({machine.CROWDED: str(crowded[name])} if crowded else {})
            for name in self.tables.experiments
        }
        return _columns(columns, "Nothing was launched.")

    @part
    def holes(self) -> str:
        """Every hole, with its reason and the command to retry; and the arms without any value."""
        known = waiting()
        users = {name for name, each in declared().items() if each.of_user}
        parts = [
            holes.partial(known.get("partial", [])),
            *holes.paragraphs(self.tables),
            *holes.withheld(known.get("withheld", {})),
            holes.left_out(known.get("hosts", {}), known.get("too_few_nodes", "")),
            holes.absent([name for name in self.leads if name not in {*self.tables.experiments, *users}]),
            *holes.silent(self.tables.validities),
        ]
        return "\n\n".join(filter(None, parts)) or "There are none: every launch has data."

    # ---- claims, and what has no section of its own

    @part
    def claims(self) -> str:
        """The verdicts on published claims: their number, and the picture."""
        return "\n\n".join(filter(None, [claims.counts(self.tables.claims), self._verdicts()]))

    def _verdicts(self) -> str:
        """The picture of the judged claims; empty without one."""
        own = verdicts.judged(self.tables.claims)
        return markup.figure("verdicts", verdicts.picture(own), verdicts.CAPTION) if own else ""

    @part
    def claims_told(self) -> str:
        """The table of the claims, and the number of those that were not measured."""
        return claims.table(self.tables.claims)

    @part
    def ladder(self) -> str:
        """The chart of the round trip of every measured layer."""
        shown = ladder.panel(self.tables.summary)
        if shown is None:
            return "Too few layers were measured for a ladder."
        chart = gallery.gallery(self.folder / "figures" / ladder.NAME, [shown])
        caption = "Round trip of every measured layer; lower is better. Bands are intervals over launches."
        return markup.figure(ladder.NAME, chart, caption)

    @part
    def experiments(self) -> str:
        """A section for each experiment of this run, under a heading for each library."""
        groups: dict[str, list[str]] = {}
        for name in self._launched():
            groups.setdefault(overview.library(name), []).append(self.section(name))
        return "\n\n".join("\n\n".join([f"# {heading}", *own]) for heading, own in groups.items())

    def _launched(self) -> list[str]:
        """The experiments of the run, in the order of the declarations, those without one last."""
        names = dict.fromkeys([*declared(), *self.tables.experiments])
        present = self.tables.experiments
        return [name for name in names if name in present or not present]

    # ---- each experiment

    def section(self, experiment: str) -> str:
        """The section under its title: the question, its answer, one picture; all else in one folded block."""
        known = declared().get(experiment)
        parts = [f"## {known.title if known else experiment} {{#sec-{experiment.replace('_', '-')}}}"]
        parts += [known.about] if known else []
        return "\n\n".join([*parts, str(self.experiment(experiment).data)])

    @part
    def experiment(self, experiment: str) -> str:
        """The answer and the picture of the leading metric, then all else, folded.

        The picture of a tournament is that of its pairs; the curves are folded, because they have few points.
        """
        first, rest = (
            [self.result, self.picture],
            [self.details, self.charts, self.verdicts, self.waiting, self.sources],
        )
        if tournaments.of(self.tables, experiment):
            first, rest = [self.tournament], [self.result, self.picture, *rest]
        opening, folded = (
            "\n\n".join(filter(None, (str(made(experiment).data) for made in parts))) for parts in (first, rest)
        )
        return f"{opening}\n\n{markup.folded('More: other curves and metrics, crossovers, protocol', folded)}"

    def _sentences(self, experiment: str) -> list[str]:
        return [each.sentence for each in choices.asked(self.tables) if each.panel.experiment == experiment]

    @part
    def result(self, experiment: str) -> str:
        """What to choose, in the first questions."""
        return markup.items(self._sentences(experiment)[:ANSWERS])

    @part
    def details(self, experiment: str) -> str:
        """The choices of the other questions, the arms without a comparison or a chart, and the protocol."""
        panels = self._leading_panels(experiment)
        absent = filter(None, (overlay.absent(each, panels) for each in self.published))
        alone = filter(None, map(findings.alone, panels))
        protocol = [f"How this is measured: `{PROTOCOLS}#{experiment}`."] if experiment in declared() else []
        return "\n\n".join(
            filter(None, [markup.items(self._sentences(experiment)[ANSWERS:]), *alone, *absent, *protocol])
        )

    @part
    def picture(self, experiment: str) -> str:
        """The curves and ratios of the leading metric, plain curves first; or the reason why there are none."""
        panels = self._drawn(experiment)
        if panels:
            return self._gallery([panel for panel in panels if panel.metric == panels[0].metric])
        return f"::: {{.callout-warning}}\n{holes.gap(self.tables, experiment)}\n:::"

    @part
    def tournament(self, experiment: str) -> str:
        """The slow hosts and links of an experiment that measured pairs of hosts, and the charts of its pairs."""
        own = tournaments.of(self.tables, experiment)
        return f"{own.sentence}\n\n{matrices.figure(own, self.tables.ranks)}" if own else ""

    @part
    def charts(self, experiment: str) -> str:
        """A tab for each further metric, with its charts."""
        panels = self._drawn(experiment)
        others = dict.fromkeys(panel.metric for panel in panels if panel.metric != panels[0].metric)
        tabs = [f"## {name}\n\n{self._gallery([each for each in panels if each.metric == name])}" for name in others]
        shown = "\n\n".join(tabs)
        return f":::: {{.panel-tabset}}\n\n{shown}\n\n::::" if tabs else ""

    @part
    def verdicts(self, experiment: str) -> str:
        """The crossovers of the leading metric, and its thresholds."""
        panels = self._leading_panels(experiment)
        below = (findings.crossover_lines(panels), findings.threshold_lines(panels))
        return "\n\n".join(filter(None, map(markup.table, below)))

    @part
    def sources(self, experiment: str) -> str:
        """Of a user's own work: what its driver tells, and the files."""
        if experiment not in declared() or not declared()[experiment].of_user:
            return ""
        parts = [f"{markup.plain(text)}." for text in notes(self.folder, experiment)]
        for name, text in users_files(self.folder, experiment):
            shown = f"<pre><code>{escape(text)}</code></pre>"
            parts.append(markup.folded(f"The file {escape(name)}", markup.raw(shown)))
        return "\n\n".join(parts)

    @part
    def waiting(self, experiment: str) -> str:
        """The parts of an experiment that need a cluster, or a key of the configuration."""
        known = waiting()
        across = holes.hosts(known.get("hosts", {}).get(experiment, {}), known.get("too_few_nodes", ""))
        here = {arm: [experiment] for arm, names in known.get("withheld", {}).items() if experiment in names}
        return " ".join(filter(None, [across, *holes.withheld(here)]))

    def _leading_panels(self, experiment: str) -> list[Panel]:
        return plain_first(self.tables.leading(experiment, self.leads.get(experiment)))

    def _drawn(self, experiment: str) -> list[Panel]:
        every = self.tables.panels(experiment, self.leads.get(experiment))
        return plain_first(panel for panel in every if panel.values or panel.near_ratios)

    def _gallery(self, panels: Sequence[Panel]) -> str:
        figures = self.folder / "figures"
        return gallery.captioned(figures, panels, self.published, self._costs)

    @cached_property
    def _costs(self) -> gallery.Costs:
        """What each candidate costs at most at each point of a curve, by the address of its charts."""
        return {
            gallery.address(curve.panel): {(arm, row.x): cost for row in curve.rows for arm, cost in row.costs.items()}
            for curve in choices.curves(self.tables)
        }

    def _health(self, experiment: str) -> dict[str, str]:
        launches = [row for row in self.tables.launches if row.experiment == experiment]
        ranks = [row for row in self.tables.ranks if row.experiment == experiment]
        validities = [row for row in self.tables.validities if row.experiment == experiment]
        return machine.health(launches, ranks, validities)


def _columns(facts: Mapping[str, Mapping[str, str]], empty: str) -> str:
    """A table with a column for each entry of `facts`, and a line for each fact."""
    names = next(iter(facts.values()), {})
    return markup.table([{"what": name, **{of: own[name] for of, own in facts.items()}} for name in names], empty)


def notes(folder: Path, experiment: str) -> list[str]:
    """What the drivers of an experiment tell of its subject, each text once."""
    rows = record.read(folder / "launches.parquet", record.LAUNCHES).select(["experiment", "notes"]).to_pylist()
    return sorted({printable(row["notes"]) for row in rows if row["experiment"] == experiment and row["notes"]})


def users_files(folder: Path, experiment: str) -> list[tuple[str, str]]:
    """The names and texts of the user's files that an experiment has measured, each text once.

    With their line breaks, which `tables.harmless` drops; control characters that reorder code are replaced.
    """
    rows = record.read(folder / "launches.parquet", record.LAUNCHES).select(["experiment", "settings"]).to_pylist()
    every = (json_text.parse(row["settings"] or "{}", dict) for row in rows if row["experiment"] == experiment)
    texts = (pair for settings in every for pair in settings.get("sources", {}).items())
    return list(dict.fromkeys((printable(name), printable(str(text))) for name, text in texts))
