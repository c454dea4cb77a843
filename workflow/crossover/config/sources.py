"""The documents with published claims and numbers, from `config/sources.yaml`, and their bibliography."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated

from annotated_types import Ge, MinLen
from pydantic import AfterValidator, BeforeValidator, StringConstraints

from crossover.config import yaml_file
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


Text = Annotated[str, MinLen(1)]
Condition = Annotated[str, BeforeValidator(lambda value: str(value) if type(value) is int else value)]


def one_of(names: Iterable[str]) -> StringConstraints:
    """The keys of conditions, for pydantic."""
    return StringConstraints(pattern=f"^({'|'.join(names)})$")


STATED = ("engines", "packer", "transport", "machine")
"""The conditions that every document has."""


def _complete(conditions: dict[str, str]) -> dict[str, str]:
    for name in STATED:
        if name not in conditions:
            raise ValueError(f"{name!r} is missing; write {NOT_STATED!r} if the document does not say")
    return conditions


@dataclass(frozen=True)
class Author:
    """One author of a document."""

    __pydantic_config__ = yaml_file.STRICT
    family: Text
    given: Text


@dataclass(frozen=True)
class Source:
    """One document."""

    __pydantic_config__ = yaml_file.STRICT
    title: Text
    authors: Annotated[Sequence[Author], MinLen(1)]
    year: Annotated[int, Ge(1990)]
    kind: Text
    """Kind of document and where it appeared, such as a message to a list, with its date."""
    url: Annotated[str, StringConstraints(pattern="^https://")]
    """For a message, the index of its month in the list's archive."""
    conditions: Annotated[Mapping[Annotated[str, one_of((*STATED, "settings"))], Condition], AfterValidator(_complete)]
    """Conditions of its measurements, in its own words; or NOT_STATED, or INAPPLICABLE. `settings` has any others."""
    group: Text = ""
    """The heading that it shares with other documents, if it does."""
    key: str = ""
    """Its citation key."""

    @property
    def heading(self) -> str:
        return self.group or self.reference

    @property
    def reference(self) -> str:
        """Authors, title and year in one line."""
        names = [f"{each.given[0]}. {each.family}" for each in self.authors]
        shown = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
        return f"{shown}, {self.title}, {self.year}"


@cache
def read(file: str | Path = FILE) -> Mapping[str, Source]:
    """Every document by its citation key. Raises CrossoverError with every fault, each with the file and the key."""
    key = Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9_]*$")]
    listed = yaml_file.validated(Annotated[dict[key, Source], MinLen(1)], yaml_file.read_yaml(file), file)
    return {name: replace(document, key=name) for name, document in listed.items()}


def unknown(key: str) -> Iterator[str]:
    """The fault of a citation key that no document has; none otherwise."""
    if key not in read():
        yield f"source: {key!r} is not in config/sources.yaml, which has {', '.join(read())}; add it there"


def bibliography(documents: Mapping[str, Source]) -> str:
    """The documents as a BibTeX file."""
    opening = "% Generated from config/sources.yaml by `make docs`; edit that file, not this one.\n"
    return "\n".join([opening, *map(_entry, documents.values())])


def _entry(source: Source) -> str:
    fields = {
        "author": " and ".join(f"{each.family}, {each.given}".translate(SPECIAL) for each in source.authors),
        # The inner braces keep the capitals.
        "title": f"{{{source.title.translate(SPECIAL)}}}",
        "year": str(source.year),
        "howpublished": source.kind.translate(SPECIAL),
        "url": source.url,
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@misc{{{source.key},", *lines, "}", ""])
