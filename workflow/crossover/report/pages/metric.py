"""One metric of an experiment on the page: the figure of its panels, the caption, and their verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crossover.config.published import Dataset
from crossover.report.base import markup, tables
from crossover.report.base.tables import Panel
from crossover.report.charts import gallery, overlay
from crossover.report.sections import crossovers
from crossover.report.sentences import citations, thresholds


def section(figures: Path, panels: Sequence[Panel], datasets: Sequence[Dataset]) -> str:
    """The figure and the tables of the panels of one metric, drawn in `figures`, as Markdown. Raises CrossoverError."""
    name = tables.slug(f"{panels[0].experiment} {panels[0].metric}")
    charts = gallery.gallery(figures / panels[0].experiment, panels, datasets)
    below = [
        (header, [line for panel in panels for line in lines(panel)])
        for header, lines in ((crossovers.HEADER, crossovers.lines), (thresholds.HEADER, thresholds.lines))
    ]
    return "\n\n".join(
        [
            markup.figure(name, charts, caption(panels, datasets)),
            *(markup.pipe_table(header, lines) for header, lines in below if lines),
        ]
    )


def caption(panels: Sequence[Panel], datasets: Sequence[Dataset]) -> str:
    """The contents of the charts, and the meaning of each mark in them."""
    first = panels[0]
    compared = [panel for panel in panels if panel.reference]
    reference = compared[0].reference if compared else ""
    parts = [f"{first.metric.capitalize()} of each arm ({first.facts['better']} is better)"]
    if compared:
        parts[0] += f", and its ratio to `{reference}`"
    if marks := _marks(panels, reference):
        parts.append(markup.capitalized(", ".join(marks)))
    if any(row["x"] is not None for panel in compared for row in panel.crossovers if row["arm"] in panel.rivals):
        parts.append("A vertical line marks a crossover, the column around it the interval")
    parts += [_published(each) for each in datasets if any(overlay.over(each, panel) for panel in panels)]
    absent = filter(None, (overlay.absent(each, panels) for each in datasets))
    return " ".join([*(f"{sentence}." for sentence in parts), *absent])


def _published(dataset: Dataset) -> str:
    """The source and the conditions of the open marks."""
    where = f"{citations.cite(dataset.source)}, {markup.verbatim(dataset.locator)}"
    return f"Open marks are published numbers: {where} ({citations.conditions(dataset.conditions)})"


def _marks(panels: Sequence[Panel], reference: str) -> list[str]:
    parts = []
    if any(row["low"] is not None for panel in panels for row in [*panel.values, *panel.ratios]):
        parts.append("bands are intervals over launches")
    if reference:
        parts.append("the dashed line marks no difference")
    if any(panel.ratios_of(panel.null) for panel in panels if panel.null):
        parts.append(f"grey is `{reference}` against itself: the noise level")
    return parts
