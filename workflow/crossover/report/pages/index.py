"""The output of the code cells of `reports/index.qmd`: charts, tables and computed sentences, as Markdown."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from crossover.experiments import declared
from crossover.records import record
from crossover.report.charts import gallery, ladder, overview, verdicts
from crossover.report.glance import finding
from crossover.report.pages import summary
from crossover.report.pages.experiments import Experiments
from crossover.report.pages.part import listed, part, sentence
from crossover.report.render import inputs
from crossover.report.text import certainty, claims, findings, holes, machine, markup, numbers, recommendations
from crossover.report.text.tables import Row, plain_first, shortened_column

TOLD = "@sec-told quotes each claim, with the method and the measured numbers."
NOT_COMPARED = "No arm could be compared with another."


class Page(Experiments):
    """The report on one results folder."""

    def __init__(self, leads: Mapping[str, str] | None = None, results: Path | None = None):
        super().__init__(leads, results, "report RESULTS --page PAGE")

    # ---- the whole page

    @part()
    def recommended(self) -> str:
        """Recommended settings, with lines to paste; the reason for every other setting."""
        tiers = inputs.waiting().get("tiers", {})
        return recommendations.section(self.tables, tiers)

    @part("choices", "claims", "recommendations")
    def cards(self) -> str:
        """The strongest numbers of the run, each with its meaning and where it holds."""
        shown = finding.cards(self.tables)
        return markup.raw(shown) if shown else ""

    @part("choices")
    def map(self) -> str:
        """The arm to choose at each part of the axis of each question."""
        shown = overview.picture(self.tables, overview.missing(self.tables))
        return markup.figure("map", shown, overview.CAPTION) if shown else NOT_COMPARED

    @part()
    def summary(self) -> str:
        """What to do on this machine, in at most five sentences, and the data behind them."""
        partial = bool(inputs.waiting().get("partial"))
        return markup.explained(summary.sentences(self.tables, self.leads, partial=partial))

    @sentence
    def alike(self) -> str:
        """The factor within which arms are called alike."""
        return numbers.alike()

    @part("crossovers")
    def crossovers(self) -> str:
        """The crossover of each arm and its reference in the leading metric, or the verdict."""
        shared, lines = [], []
        for name in self.tables.order(self.leads):
            panels = plain_first(self.tables.leading(name, self.leads.get(name)))
            same, own = shortened_column([line for panel in panels for line in findings.crossover_lines(panel)])
            lines += [{"experiment": f"`{name}`", "metric": panels[0].metric} | line for line in own]
            shared += [f"`{name}`: {same}"] if same else []
        return "\n\n".join(filter(None, [" ".join(shared), markup.table(lines, NOT_COMPARED)]))

    @part("launches")
    def shared(self) -> str:
        """A warning if other jobs may have run on the nodes of launches; empty without such launches."""
        words = machine.shared_hosts(self.tables.launches)
        return f"::: {{.callout-warning}}\n{words}\n:::" if words else ""

    @part("ranks")
    def machine(self) -> str:
        """The machines of all ranks, one column per kind of host."""
        return _columns(machine.kinds(self.tables.ranks), "No rank recorded its machine.")

    @part("launches", "measurements")
    def health(self) -> str:
        """The run of each experiment, one column each: limits, time, reasons to stop, validity."""
        measurements = self._measurements()
        crowded, allocated = machine.crowded(self.tables.ranks), machine.allocated(self.tables.launches)
        columns = {
            f"`{name}`": self._health(name, measurements)
            | ({machine.ALLOCATED: allocated.get(name, "–")} if allocated else {})
            | ({machine.CROWDED: str(crowded[name])} if crowded else {})
            for name in self.tables.experiments
        }
        return _columns(columns, "Nothing was launched.")

    @part()
    def holes(self) -> str:
        """Every hole, with its reason and the command to retry; and the arms without any value."""
        present = {*self.tables.experiments, *self._without_tables()}
        parts = [
            listed(self.failures),
            holes.partial(inputs.waiting().get("partial", [])),
            *holes.paragraphs(self.tables),
            *holes.withheld(inputs.waiting().get("withheld", {})),
            holes.left_out(inputs.waiting().get("hosts", {}), inputs.waiting().get("too_few_nodes", "")),
            holes.absent([name for name in self.leads if name not in present]),
            *holes.silent(self._validities()),
        ]
        return "\n\n".join(filter(None, parts)) or "There are none: every launch has data."

    # ---- certainty

    @part()
    def certainty(self) -> str:
        """The possible bias and the precision of each experiment, in sentences."""
        return certainty.sentences(self._leading(self.tables.sensitivity)) or NOT_COMPARED

    @part("sensitivity")
    def sure(self) -> str:
        """The possible bias and the precision, for each arm."""
        return markup.table(certainty.sure(self._leading(self.tables.sensitivity)), NOT_COMPARED)

    def _leading(self, table: Sequence[Row]) -> list[Row]:
        return self.tables.of_leads(table, self.leads)

    # ---- claims, and what has no section of its own

    @part()
    def claims(self) -> str:
        """The verdicts on published claims: their number, and the picture."""
        every = self.tables.claims
        return "\n\n".join(filter(None, [claims.counts(every), self._verdicts(), TOLD if every else ""]))

    def _verdicts(self) -> str:
        """The picture of the judged claims; empty without one."""
        own = verdicts.judged(self.tables.claims)
        return markup.figure("verdicts", verdicts.picture(own), verdicts.CAPTION) if own else ""

    @part()
    def claims_told(self) -> str:
        """The same in sentences, source by source."""
        return "\n\n".join(claims.paragraphs(self.tables.claims))

    @part("hosts")
    def hosts(self) -> str:
        """The hosts on which launches are slower than on others; whether hosts could be compared."""
        if not (self.folder / "hosts.parquet").exists():
            return "This run did not compare hosts."
        return (
            "\n\n".join(machine.compared_hosts(self.tables)) or "All launches of an experiment ran on the same hosts."
        )

    @part()
    def ladder(self) -> str:
        """The round trip of every measured layer: a chart, and a table at a few sizes."""
        shown = ladder.panel(self.tables.summary)
        if shown is None:
            return "Too few layers were measured for a ladder."
        chart = gallery.gallery(self.folder / "figures" / ladder.NAME, [shown])
        caption = "Round trip of every measured layer; lower is better. Bands are intervals over launches."
        table = markup.table(ladder.rungs(shown))
        folded = markup.folded(f"All numbers: {markup.entries(table)}", table, unfolded=False)
        return f"{markup.figure(ladder.NAME, chart, caption)}\n\n{folded}"

    @part()
    def experiments(self) -> str:
        """A section for each experiment of this run."""
        return "\n\n".join(self.section(name) for name in self._launched())

    def _launched(self) -> list[str]:
        """The experiments of the run, in the order of the declarations, those without one last."""
        names = dict.fromkeys([*declared(), *self.tables.experiments])
        present = {*self.tables.experiments, *self._without_tables()}
        return [name for name in names if name in present or not present]

    def _validities(self) -> list[Row]:
        """The validities of each arm's blocks, by experiment and protocol."""
        kinds = ["experiment", "protocol", "arm", "validity"]
        found = self._measurements().select([*kinds, "value"]).group_by(kinds, use_threads=False)
        return [row | {"values": row["value_count"]} for row in found.aggregate([("value", "count")]).to_pylist()]

    def _measurements(self) -> pa.Table:
        return record.read(self.folder / "measurements.parquet", record.MEASUREMENTS)

    def _health(self, experiment: str, measurements: pa.Table) -> dict[str, str]:
        own = measurements.filter(pc.equal(measurements["experiment"], experiment))
        cells = own.group_by(["placement", "launch", "protocol", "x", "stop"]).aggregate([])
        launches, ranks = (
            [row for row in table if row["experiment"] == experiment]
            for table in (self.tables.launches, self.tables.ranks)
        )
        return machine.health(launches, ranks, cells["stop"].to_pylist(), own["validity"].to_pylist())


def _columns(facts: Mapping[str, Mapping[str, str]], empty: str) -> str:
    """A table with a column for each entry of `facts`, and a line for each fact."""
    names = next(iter(facts.values()), {})
    return markup.table([{"what": name, **{of: own[name] for of, own in facts.items()}} for name in names], empty)
