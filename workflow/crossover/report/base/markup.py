"""Pieces of the page: raw blocks of HTML, tables of Markdown."""

from __future__ import annotations

import re


def raw(elements: str) -> str:
    """HTML as a block that Markdown leaves unchanged."""
    return f"``````{{=html}}\n{elements}\n``````"


def verbatim(text: str) -> str:
    """Any text in one line, escaped so that Markdown finds no markup in it."""
    return re.sub(r"([\\`*_{}\[\]<>#|~^@$\"'])", r"\\\1", " ".join(text.split()))


def plain(text: str) -> str:
    """Text without Markdown's marks of bold text and code."""
    return text.replace("**", "").replace("`", "")


def capitalized(text: str) -> str:
    """Text with a capital first letter, and all others unchanged."""
    return text[:1].upper() + text[1:]


def folded(about: str, shown: str, *, unfolded: bool) -> str:
    """A block that unfolds under the line `about`."""
    start = f"<details{' open' if unfolded else ''}><summary>{about}</summary>"
    return "\n\n".join([raw(start), shown, raw("</details>")])


def figure(name: str, charts: str, caption: str) -> str:
    """Charts, as HTML, with a number and a caption; references and addresses use `name`."""
    return f"::: {{#fig-{name}}}\n\n{raw(charts)}\n\n{caption}\n\n:::"


def pipe_table(header: list[str], lines: list[list[str]]) -> str:
    """A Markdown pipe table; in a wide table, columns share the width in proportion to their longest cells."""
    table = [[cell.replace("|", "\\|") for cell in row] for row in [header, *lines]]
    widths = [min(max(len(cell) for cell in column), 40) for column in zip(*table, strict=True)]
    rules = ["-" * max(3, width) for width in widths]
    return "\n".join("| " + " | ".join(row) + " |" for row in [table[0], rules, *table[1:]])
