"""Words that a student may not know, each explained at its first place in a part of the page.

The explanations are those of docs/glossary.md, which an installed package does not have; a test compares them.
"""

import re

from crossover.report.base import markup

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
        lines.append(_line(line, waiting) if prose else line)
    return "\n".join(lines)


def _line(line: str, waiting: dict[str, str]) -> str:
    """A line with a note at the first place of each word that is `waiting`, which then waits no longer."""
    for word in list(waiting):
        # Every second piece stays as it is; a note is such a piece for the words after it.
        pieces = SKIPPED.split(line)
        for index in range(0, len(pieces), 2):
            if found := re.search(rf"(?<![\w-]){word}(?:s|es)?(?![\w-])", pieces[index]):
                note = noted(found[0], waiting.pop(word))
                pieces[index] = f"{pieces[index][: found.start()]}{note}{pieces[index][found.end() :]}"
                line = "".join(pieces)
                break
    return line


def noted(word: str, explanation: str) -> str:
    """A word as Markdown that shows its explanation under the pointer and, since keys can reach it, on focus."""
    return f'[{markup.verbatim(word)}]{{.term tabindex="0" title="{explanation}"}}'
