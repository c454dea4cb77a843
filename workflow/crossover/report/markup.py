"""Pieces of the page: charts and raw blocks of HTML, tables of Markdown."""

from __future__ import annotations

import html
import json
from pathlib import Path

import vl_convert

CHART_SCRIPT = Path(__file__).with_name("charts.js")


class MissingFigureError(Exception):
    """A figure that was not drawn; the message says which and how to get it."""


def chart(path: Path, said: str) -> str:
    """A chart as the page's script expects it: what a screen reader says, and the specification."""
    try:
        specification = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MissingFigureError(
            f"{path}: the figure is missing ({error.strerror}); draw it by running Snakemake again"
        ) from error
    # Inside a script element only a closing tag ends the text.
    compact = json.dumps(specification, separators=(",", ":"), ensure_ascii=False).replace("</", "<\\/")
    return (
        f'<div class="crossover-chart" role="img" aria-label="{html.escape(said)}" style="min-width:0">'
        f'<div class="crossover-canvas" style="width:100%"></div>'
        f'<script type="application/json">{compact}</script></div>'
    )


def script() -> str:
    """The one script of a page: Vega and what draws the charts with it."""
    bundle = vl_convert.javascript_bundle(CHART_SCRIPT.read_text(encoding="utf-8"))
    # A module, since the bundle's one-letter names would else meet those of other scripts.
    return raw(f'<script type="module">{bundle}</script>')


def raw(elements: str) -> str:
    """HTML as a block that Markdown passes on untouched."""
    return f"``````{{=html}}\n{elements}\n``````"


def pipe_table(header: list[str], lines: list[list[str]]) -> str:
    """A Markdown pipe table; where it is wide, its columns share the width as their longest cells do."""
    table = [[cell.replace("|", "\\|") for cell in row] for row in [header, *lines]]
    widths = [min(max(len(cell) for cell in column), 40) for column in zip(*table, strict=True)]
    rules = ["-" * max(3, width) for width in widths]
    return "\n".join("| " + " | ".join(row) + " |" for row in [table[0], rules, *table[1:]])
