"""Pieces of the page: raw blocks of HTML, tables of Markdown, explained words.

The explanations are those of docs/glossary.md, which an installed package does not have; a test compares them.
"""

import re
from collections.abc import Mapping, Sequence

from crossover.report.text import numbers

TERMS = {
    "null arm": "The reference once more. Its true ratio is 1, so it shows chance and bias.",
    "arm": "One of the alternatives that an experiment compares, such as no-copy.",
    "launch": "A fresh set of processes that measures all cells. It is the unit of replication: intervals count "
    "launches, never rounds.",
    "interval": "The range that holds the true value, but for a small chance. The page gives it in brackets after the "
    "estimate.",
}
"""A word in the singular, and its explanation without Markdown."""

SKIPPED = re.compile(r"(`+[^`]*`+|\[[^\]]*\](?:\([^)]*\)|\{[^}]*\})?|@[\w-]+)")
"""Code, links, citations and intervals within a line, which stay as they are."""


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


def explained(text: str) -> str:
    """Markdown with a note at the first place of each word; code, tables, headings and HTML stay unchanged.

    >>> explained("`arm`: two arms, one launch")[:26]
    '`arm`: two [arms]{.term ta'
    """
    lines, fence, waiting = [], "", dict(TERMS)
    for line in text.split("\n"):
        found = re.match(r"(`{3,}|~{3,})", line)
        if found and (not fence or line.startswith(fence)):
            fence = "" if fence else found[0]
        prose = not fence and not line.startswith(("`" * 3, "~" * 3, "|", "#", ":", "    "))
        lines.append(_with_notes(line, waiting) if prose else line)
    return "\n".join(lines)


def _with_notes(line: str, waiting: dict[str, str]) -> str:
    """A line with a note at the first place of each word that is `waiting`, which then waits no longer."""
    for word in list(waiting):
        # Every second piece stays as it is; a note is such a piece for the words after it.
        pieces = SKIPPED.split(line)
        for index in range(0, len(pieces), 2):
            if found := re.search(rf"(?<![\w-]){word}(?:s|es)?(?![\w-])", pieces[index]):
                note = _noted(found[0], waiting.pop(word))
                pieces[index] = f"{pieces[index][: found.start()]}{note}{pieces[index][found.end() :]}"
                line = "".join(pieces)
                break
    return line


def _noted(word: str, explanation: str) -> str:
    """A word as Markdown that shows its explanation under the pointer and, since keys can reach it, on focus."""
    return f'[{verbatim(word)}]{{.term tabindex="0" title="{explanation}"}}'
