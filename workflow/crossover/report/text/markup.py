"""Pieces of the page: raw blocks of HTML, tables of Markdown."""

import re
from collections.abc import Mapping, Sequence

from crossover.report.text import numbers


def raw(elements: str) -> str:
    """HTML as a block that Markdown leaves unchanged, whatever is in it."""
    fence = "`" * max(6, 1 + max(map(len, re.findall("`+", elements)), default=0))
    return f"{fence}{{=html}}\n{elements}\n{fence}"


def verbatim(text: str) -> str:
    """Any text in one line, escaped so that Markdown finds no markup in it."""
    return re.sub(r"([\\`*_{}\[\]<>#|~^@$\"'])", r"\\\1", " ".join(text.split()))


def plain(text: str) -> str:
    """Text without Markdown's marks of bold text and code."""
    return text.replace("**", "").replace("`", "")


def capitalized(text: str) -> str:
    """Text with a capital first letter, and all others unchanged."""
    return text[:1].upper() + text[1:]


def folded(about: str, shown: str, *, unfolded: bool = False) -> str:
    """A block that unfolds under the line `about`."""
    start = f"<details{' open' if unfolded else ''}><summary>{about}</summary>"
    return "\n\n".join([raw(start), shown, raw("</details>")])


def items(sentences: Sequence[str]) -> str:
    """Sentences as a list, if there are several."""
    return "\n".join(f"- {sentence}" for sentence in sentences) if len(sentences) > 1 else "".join(sentences)


def entries(text: str) -> str:
    """The number of rows of the tables in Markdown, or of its list items without a table; empty without both.

    >>> entries(table([{"arm": "copy"}, {"arm": "no-copy"}])), entries("- one"), entries("None.")
    ('2 rows', '1 item', '')
    """
    lines = text.splitlines()
    rules = [line for line in lines if re.match(r"\| -{3,} \|", line)]
    if rules:
        # Each table has a line of headings and a rule.
        return numbers.counted(sum(line.startswith("|") for line in lines) - 2 * len(rules), "row")
    items = sum(line.startswith("- ") for line in lines)
    return numbers.counted(items, "item") if items else ""


def figure(name: str, charts: str, caption: str) -> str:
    """Charts, as HTML, with a number and a caption; references and addresses use `name`."""
    return f"::: {{#fig-{name}}}\n\n{raw(charts)}\n\n{caption}\n\n:::"


def table(lines: Sequence[Mapping[str, str]], empty: str = "") -> str:
    """A Markdown pipe table of lines, which all have the same headings; the text `empty` if there are none.

    In a wide table, columns share the width in proportion to their longest cells.
    """
    if not lines:
        return empty
    headings = list(lines[0])
    rows = [headings, *([line[heading] for heading in headings] for line in lines)]
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    rules = ["-" * max(3, min(max(map(len, column)), 40)) for column in zip(*cells, strict=True)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [cells[0], rules, *cells[1:]])
