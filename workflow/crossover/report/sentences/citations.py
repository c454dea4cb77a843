"""Citations of the documents that published claims and numbers."""

from collections.abc import Mapping

from crossover.config import sources
from crossover.report.base import markup


def cite(key: str) -> str:
    """A citation of a document; only its key if this project does not list it, as in results of another project."""
    return f"[@{key}]" if key in sources.read() else markup.verbatim(key)


def named(key: str) -> str:
    """A document as part of a sentence: its authors, with the year in brackets."""
    return f"@{key}" if key in sources.read() else markup.verbatim(key)


def within(words: str, key: str) -> str:
    """Words and the citation of a document, in one pair of brackets."""
    return f"[{words}, @{key}]" if key in sources.read() else f"({words}, {cite(key)})"


def reference(key: str) -> str:
    """Authors, title and year of a document, its citation, and the conditions of its measurements."""
    known = sources.read().get(key)
    if known is None:
        return f"**{markup.verbatim(key)}**"
    return (
        f"**{markup.verbatim(known.reference)}** {cite(key)}. {known.kind}. Conditions: {conditions(known.conditions)}."
    )


def quoted(quote: str, locator: str) -> str:
    """A document's exact words, and their place in it."""
    return f"“{markup.verbatim(quote)}” ({markup.verbatim(locator)})"


def conditions(values: Mapping[str, str]) -> str:
    """Conditions in words, without those that do not apply."""
    return "; ".join(
        f"{name} {markup.verbatim(value)}" if value != sources.NOT_STATED else f"{name} not stated"
        for name, value in values.items()
        if value != sources.INAPPLICABLE
    )
