"""Pieces of the page: charts and raw blocks of HTML, tables of Markdown."""

from __future__ import annotations

import html
import json
from pathlib import Path


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


def raw(elements: str) -> str:
    """HTML as a block that Markdown passes on untouched."""
    return f"``````{{=html}}\n{elements}\n``````"


def pipe_table(header: list[str], lines: list[list[str]]) -> str:
    """A Markdown pipe table; where it is wide, its columns share the width as their longest cells do."""
    table = [[cell.replace("|", "\\|") for cell in row] for row in [header, *lines]]
    widths = [min(max(len(cell) for cell in column), 40) for column in zip(*table, strict=True)]
    rules = ["-" * max(3, width) for width in widths]
    return "\n".join("| " + " | ".join(row) + " |" for row in [table[0], rules, *table[1:]])


def sampled(places: list[float], count: int) -> list[float]:
    """At most `count` of the places, evenly spread, the first and the last among them.

    >>> sampled([1, 2, 3, 4, 5, 6, 7], 3)
    [1, 4, 7]
    """
    if len(places) <= count:
        return places
    return [places[round(step * (len(places) - 1) / (count - 1))] for step in range(count)]
