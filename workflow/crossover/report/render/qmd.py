"""Reads a `.qmd`: front matter, prose, code cells. Supports the subset that Quarto and the preview render alike.

Anything else is refused with its line, so that a page cannot look right in one renderer and wrong in the other.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import yaml

from crossover.errors import CrossoverError

FRONT_MATTER = ("title", "subtitle", "lang", "jupyter", "bibliography", "link-citations")
OPTIONS = ("label", "tbl-cap", "include", "output")

FRONT = re.compile(r"---[ \t]*\n(?P<yaml>.*?)^---[ \t]*$\n?", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(
    r"^(?P<fence>(?>(?P<sign>[`~])(?P=sign){2,}))(?P<info>.*)\n(?P<body>(?:.*\n)*?)(?P=fence)(?P=sign)*[ \t]*$\n?",
    re.MULTILINE,
)
CELL = re.compile(r"\{python\}\s*")
INLINE = re.compile(r"(?<!`)`\{python\} (?P<expression>[^`\n]+)`(?!`)")

REFUSED = {
    re.compile(r"^(?:`{3,}|~{3,})", re.MULTILINE): "the block that starts here is not closed; close it with {}",
    re.compile(r"\{\{<.*?>\}\}"): "shortcodes such as {} need Quarto; remove it",
}
"""What prose must not contain, and the error."""


@dataclass(frozen=True)
class Cell:
    """A code cell, without the option lines; or an expression inside a sentence."""

    code: str
    line: int
    options: dict[str, Any] = field(default_factory=dict)
    inline: bool = False

    @property
    def name(self) -> str:
        """The cell's name in messages."""
        if label := self.options.get("label"):
            return f"cell {label!r} (line {self.line})"
        return f"{'expression' if self.inline else 'cell'} in line {self.line}"


Part = str | Cell
"""Markdown, unchanged from the file; or code."""


def parse(text: str) -> tuple[dict[str, Any], list[Part]]:
    """The front matter and the parts of a `.qmd`, in order. Raises CrossoverError."""
    front: dict[str, Any] = {}
    position = 0
    if re.match(r"---\s*$", text, re.MULTILINE):
        if not (found := FRONT.match(text)):
            raise CrossoverError("line 1: the front matter has no closing ---")
        front = _mapping(found["yaml"], 1, "the front matter", "key of the front matter", FRONT_MATTER)
        position = found.end()
    parts: list[Part] = []
    for block in BLOCK.finditer(text, position):
        parts += _prose(text, position, block.start())
        # A fence that is not a cell is shown unchanged, and nothing in it is executed.
        is_cell = CELL.fullmatch(block["info"])
        parts.append(_cell(block["body"], _line(text, block.start())) if is_cell else block[0])
        position = block.end()
    return front, [part for part in (*parts, *_prose(text, position, len(text))) if part]


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _mapping(text: str, line: int, what: str, kind: str, known: tuple[str, ...]) -> dict[str, Any]:
    try:
        found = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise CrossoverError(f"line {line}: {what} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(found, dict):
        raise CrossoverError(f"line {line}: {what} must be `key: value` lines")
    if unknown := sorted(str(key) for key in found if key not in known):
        raise CrossoverError(f"line {line}: unknown {kind} {', '.join(unknown)}; available: {', '.join(known)}")
    return found


def _cell(body: str, line: int) -> Cell:
    lines = body.splitlines(keepends=True)
    settings = [line[2:].removeprefix(" ") for line in takewhile(lambda text: text.startswith("#|"), lines)]
    options = _mapping("".join(settings), line, "a cell's options", "cell option", OPTIONS)
    if options.get("output", "asis") != "asis":
        raise CrossoverError(f"line {line}: unknown output: {options['output']}; available: asis")
    return Cell("".join(lines[len(settings) :]), line, options)


def _prose(text: str, start: int, end: int) -> Iterator[Part]:
    """The prose from `start` to `end`, split at its inline expressions."""
    for pattern, error in REFUSED.items():
        if refused := pattern.search(text, start, end):
            raise CrossoverError(f"line {_line(text, refused.start())}: {error.format(refused[0])}")
    for found in INLINE.finditer(text, start, end):
        yield text[start : found.start()]
        yield Cell(found["expression"], _line(text, found.start()), inline=True)
        start = found.end()
    yield text[start:end]
