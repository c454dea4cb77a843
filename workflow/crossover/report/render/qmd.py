"""Reads a `.qmd`: front matter, prose, code cells. Supports the subset that Quarto and the preview render alike.

Anything else is refused with its line, so that a page cannot look right in one renderer and wrong in the other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from crossover.errors import CrossoverError

FRONT_MATTER = ("title", "subtitle", "lang", "jupyter", "bibliography", "link-citations")
OPTIONS = ("label", "tbl-cap", "include", "output")

FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,})(?P<info>.*)$")
CELL = re.compile(r"^\{python\}\s*$")
INLINE = re.compile(r"(?<!`)`\{python\} (?P<expression>[^`\n]+)`(?!`)")
SHORTCODE = re.compile(r"\{\{<.*?>\}\}")


@dataclass(frozen=True)
class Prose:
    """Markdown, unchanged from the file."""

    text: str
    line: int


@dataclass(frozen=True)
class Inline:
    """An expression inside a sentence."""

    expression: str
    line: int


@dataclass(frozen=True)
class Cell:
    """A code cell: its code without the option lines, and the options."""

    code: str
    line: int
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The cell's name in messages."""
        return (
            f"cell {self.options['label']!r} (line {self.line})"
            if "label" in self.options
            else f"cell in line {self.line}"
        )


Part = Prose | Inline | Cell


def parse(text: str) -> tuple[dict[str, Any], list[Part]]:
    """The front matter and the parts of a `.qmd`, in order. Raises CrossoverError."""
    lines = text.splitlines(keepends=True)
    front, start = _front_matter(lines)
    parts: list[Part] = []
    prose: list[str] = []
    prose_line, position = start + 1, start

    def flush() -> None:
        parts.extend(_prose("".join(prose), prose_line))
        prose.clear()

    while position < len(lines):
        opening = FENCE.match(lines[position].rstrip("\n"))
        if not opening:
            prose.append(lines[position])
            position += 1
            continue
        end = _closing(lines, position, opening["fence"])
        flush()
        if CELL.match(opening["info"]):
            parts.append(_cell(lines[position + 1 : end], position + 1))
        else:
            # A fence that is not a cell is shown unchanged, and nothing in it is executed.
            parts.append(Prose("".join(lines[position : end + 1]), position + 1))
        position = end + 1
        prose_line = position + 1
    flush()
    return front, parts


def _front_matter(lines: list[str]) -> tuple[dict[str, Any], int]:
    if not lines or lines[0].rstrip() != "---":
        return {}, 0
    for end in range(1, len(lines)):
        if lines[end].rstrip() == "---":
            front = _mapping("".join(lines[1:end]), 1, "the front matter")
            _refuse_unknown(front, FRONT_MATTER, 1, "key of the front matter")
            return front, end + 1
    raise CrossoverError("line 1: the front matter has no closing ---")


def _mapping(text: str, line: int, what: str) -> dict[str, Any]:
    try:
        found = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise CrossoverError(f"line {line}: {what} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(found, dict):
        raise CrossoverError(f"line {line}: {what} must be `key: value` lines")
    return found


def _refuse_unknown(found: dict[str, Any], known: tuple[str, ...], line: int, what: str) -> None:
    if unknown := sorted(str(key) for key in found if key not in known):
        raise CrossoverError(f"line {line}: unknown {what} {', '.join(unknown)}; available: {', '.join(known)}")


def _closing(lines: list[str], start: int, fence: str) -> int:
    pattern = re.compile(rf"^{re.escape(fence[0])}{{{len(fence)},}}\s*$")
    for position in range(start + 1, len(lines)):
        if pattern.match(lines[position]):
            return position
    raise CrossoverError(f"line {start + 1}: the block that starts here is not closed; close it with {fence}")


def _cell(lines: list[str], line: int) -> Cell:
    count = next((index for index, text in enumerate(lines) if not text.startswith("#|")), len(lines))
    options = _mapping(
        "".join(text.removeprefix("#|").removeprefix(" ") for text in lines[:count]), line, "a cell's options"
    )
    _refuse_unknown(options, OPTIONS, line, "cell option")
    if options.get("output", "asis") != "asis":
        raise CrossoverError(f"line {line}: unknown output: {options['output']}; available: asis")
    return Cell("".join(lines[count:]), line, options)


def _prose(text: str, line: int) -> list[Part]:
    """Split prose at its inline expressions."""
    shortcode = SHORTCODE.search(text)
    if shortcode:
        where = line + text[: shortcode.start()].count("\n")
        raise CrossoverError(f"line {where}: shortcodes such as {shortcode[0]} need Quarto; remove it")
    parts: list[Part] = []
    position = 0
    for found in INLINE.finditer(text):
        parts.append(Prose(text[position : found.start()], line + text[:position].count("\n")))
        parts.append(Inline(found["expression"], line + text[: found.start()].count("\n")))
        position = found.end()
    parts.append(Prose(text[position:], line + text[:position].count("\n")))
    return [part for part in parts if not isinstance(part, Prose) or part.text]
