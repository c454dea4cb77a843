"""The documents with published claims and numbers, from `config/sources.yaml`, and their bibliography."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from crossover.paths import CONFIG, REPORTS

FILE = CONFIG / "sources.yaml"
BIBLIOGRAPHY = REPORTS / "references.bib"

NOT_STATED = "not stated"
"""Value of a condition that the document does not state."""
INAPPLICABLE = "none"
"""Value of a condition that does not apply to the document."""

SPECIAL = str.maketrans(
    {**{sign: f"\\{sign}" for sign in "&%$#_{}"}, "\\": r"\textbackslash{}", "~": r"\~{}", "^": r"\^{}"}
)
"""Special characters of BibTeX, and how to write them."""


@dataclass(frozen=True)
class Source:
    """One document."""

    key: str
    """Its citation key."""
    title: str
    authors: Sequence[Mapping[str, str]]
    """The `family` name and the `given` name of each."""
    year: int
    kind: str
    """Kind of document and where it appeared."""
    url: str
    conditions: Mapping[str, str]
    """Conditions of its measurements: engines, packer, transport, machine; `settings` if it states others."""
    group: str = ""
    """The heading that it shares with other documents, if it does."""

    @property
    def heading(self) -> str:
        return self.group or self.reference

    @property
    def reference(self) -> str:
        """Authors, title and year in one line."""
        names = [f"{each['given'][0]}. {each['family']}" for each in self.authors]
        shown = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
        return f"{shown}, {self.title}, {self.year}"


@cache
def read(file: str | Path = FILE) -> Mapping[str, Source]:
    """Every document by its citation key. `config/sources.schema.yaml` describes the file; it is read once."""
    listed: dict[str, dict[str, Any]] = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    for entry in listed.values():
        entry["conditions"] = {name: str(value) for name, value in entry["conditions"].items()}
    return {key: Source(key, **entry) for key, entry in listed.items()}


def bibliography(documents: Mapping[str, Source]) -> str:
    """The documents as a BibTeX file."""
    opening = "% Generated from config/sources.yaml by `make docs`; edit that file, not this one.\n"
    return "\n".join([opening, *map(_entry, documents.values())])


def _entry(source: Source) -> str:
    fields = {
        "author": " and ".join(f"{each['family']}, {each['given']}".translate(SPECIAL) for each in source.authors),
        # The inner braces keep the capitals.
        "title": f"{{{source.title.translate(SPECIAL)}}}",
        "year": str(source.year),
        "howpublished": source.kind.translate(SPECIAL),
        "url": source.url,
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@misc{{{source.key},", *lines, "}", ""])
