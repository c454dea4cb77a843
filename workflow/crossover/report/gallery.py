"""The charts of the page, as HTML: one legend for all charts of a metric, a choice of panels, the charts themselves.

`charts.js` draws the charts and gives the controls their life. Everything is inside the page; nothing is fetched.
"""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path

from crossover.report import alternatives, colours, figures, looks, published
from crossover.report.looks import Look
from crossover.report.tables import Panel

HINT = (
    '<p class="crossover-hint">Drag to move the axes, turn the wheel with Ctrl or ⌘ to stretch them, '
    "double-click to take that back.</p>"
)


class MissingFigureError(Exception):
    """A figure that was not drawn; the message says which and how to get it."""


def gallery(folder: Path, panels: Sequence[Panel], datasets: Sequence[published.Dataset] = ()) -> str:
    """The panels of one metric, whose figures lie in `folder`. Raises MissingFigureError."""
    styles = {label: look for panel in panels for label, look in looks.of(panel).items()}
    drawn = [label for label in styles if any(label in _labels(panel) for panel in panels)]
    drawn.sort(key=lambda label: (styles[label] == looks.NULL, styles[label] in looks.BOUNDING))
    choice = _choice(panels) if len(panels) > 1 else ""
    legend = "".join(_entry(label, styles[label]) for label in drawn)
    controls = (
        f'<div class="crossover-controls">{choice}'
        f'<div class="crossover-legend" role="group" aria-label="Arms to show or hide">{legend}</div>'
        "</div>"
    )
    shown = "".join(_panel(folder, panel, datasets) for panel in panels)
    return f'<div class="crossover-gallery" data-group="{html.escape(folder.name)}">{controls}{shown}{HINT}</div>'


def _labels(panel: Panel) -> list[str]:
    """What is drawn: the null arm among ratios alone, as a ceiling among curves alone."""
    arms = {row["arm"] for row in panel.summary if not row["null"]}
    arms |= {row["arm"] for row in panel.ratios if not row["ceiling"]}
    return [looks.label(panel, arm) for arm in panel.arms if arm in arms]


def _choice(panels: Sequence[Panel]) -> str:
    options = "".join(f"<option>{html.escape(panel.title)}</option>" for panel in panels)
    options += '<option value="">all of them</option>'
    return f'<label class="crossover-choice">Shown: <select>{options}</select></label>'


def _entry(label: str, look: Look) -> str:
    """A button of the legend, with a piece of the arm's line and its mark."""
    dash = " ".join(map(str, look.dash))
    symbol = (
        '<svg viewBox="0 0 36 14" width="36" height="14" aria-hidden="true">'
        f'<path d="M1,7L35,7" stroke="currentColor" stroke-width="2" stroke-dasharray="{dash}"/>'
        f'<path d="{look.shape}" fill="currentColor" transform="translate(18 7) scale(5)"/></svg>'
    )
    name = html.escape(label)
    return (
        f'<button type="button" aria-pressed="true" data-arm="{name}">'
        f'<span style="color:{colours.variable(look.colour)}">{symbol}</span>{name}</button>'
    )


def _panel(folder: Path, panel: Panel, datasets: Sequence[published.Dataset]) -> str:
    charts = []
    if panel.summary:
        said = alternatives.curve(panel)
        charts.append(chart(folder, panel.name, figures.curve_subtitle(panel, datasets), said))
    if panel.ratios:
        said = alternatives.ratio(panel)
        charts.append(chart(folder, f"{panel.name}-ratio", figures.ratio_subtitle(panel), said))
    title = html.escape(panel.title)
    return (
        f'<div class="crossover-panel" data-panel="{title}"><p class="crossover-title">{title}</p>'
        f'<div class="crossover-pair">{"".join(charts)}</div></div>'
    )


def chart(folder: Path, name: str, subtitle: str, said: str) -> str:
    """A chart as the page's script expects it: what a screen reader says, its files, the specification."""
    path = folder / f"{name}.vl.json"
    try:
        specification = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MissingFigureError(
            f"{path}: the figure is missing ({error.strerror}); draw it by running Snakemake again"
        ) from error
    # Inside a script element only a closing tag ends the text.
    compact = json.dumps(specification, separators=(",", ":"), ensure_ascii=False).replace("</", "<\\/")
    stem = html.escape(f"{folder.name}-{name}")
    files = "".join(
        f'<button type="button" data-file="{stem}.{ending}" aria-label="{text} of this chart">{text}</button>'
        for ending, text in (("csv", "Data"), ("svg", "SVG"))
    )
    return (
        f'<div class="crossover-chart"><p class="crossover-subtitle">{html.escape(subtitle)}</p>'
        f'<div class="crossover-canvas" role="img" aria-label="{html.escape(said)}"></div>'
        f'<p class="crossover-files">{files}</p>'
        f'<script type="application/json">{colours.on_page(compact)}</script></div>'
    )
