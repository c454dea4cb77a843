"""The text of `config/README.md`, and the table in `docs/experiments.md`, made from the schema and the declarations."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from crossover import experiments, farms
from crossover.config import schema, tiers
from crossover.design.experiment import Experiment
from crossover.paths import PROJECT

PAGE = schema.FILE.with_name("README.md")
OVERVIEW = PROJECT / "docs/experiments.md"


def text() -> str:
    """The page, as Markdown."""
    whole = schema.read_schema()
    experiments = whole["properties"]["experiments"]["properties"]
    entrants = whole["properties"]["entrants"]
    parts = ["# Configuration", "", whole["description"], *_table(whole), ""]
    parts += ["## `entrants`", "", entrants["x-page"], *_options(), *_entrants(entrants["properties"]), ""]
    for name, part in experiments.items():
        parts += [f"## `{name}`", "", f"{part['title']}. {part['description']}", "", *_table(part), ""]
    return "\n".join(parts)


def overview(page: str) -> str:
    """The page OVERVIEW, with a row in its first table for every experiment."""
    rows = "".join(f"{_row(name, each)}\n" for name, each in experiments.declared().items())
    return re.sub(r"(?<=\|\n)(\| `.*\n)+", lambda _: rows, page, count=1)


def _row(name: str, declared: Experiment) -> str:
    first = tiers.first(name)
    settings = schema.complete({"tier": "standard", "experiments": {name: {}}})["experiments"][name]
    cells = [
        f"`{name}`" + ("" if first == "quick" else f" (from `{first}` on)"),
        declared.about,
        ", ".join(f"`{arm}`" for arm in settings["arms"]),
        declared.axis.name,
        ", ".join(f"`{metric.name}`" for metric in declared.metrics),
    ]
    return f"| {' | '.join(cells)} |"


def _options() -> Iterator[str]:
    """The options of each farm that has some."""
    for name, farm in farms.declared().items():
        if farm.meanings:
            yield from (f"Options of `{name}`:", "")
            yield from (f"- `{option}`: {meaning or 'see its farm'}." for option, meaning in farm.meanings.items())
            yield ""


def _entrants(parts: Mapping[str, Any]) -> Iterator[str]:
    yield "| entrant | definition |"
    yield "|---|---|"
    for name, entry in parts.items():
        extra = farms.declared()[entry["default"]["farm"]].extra
        yield f"| `{name}` | {_literal(entry['default'])}{f', after `make env EXTRA={extra}`' if extra else ''} |"


def _table(part: Mapping[str, Any]) -> Iterator[str]:
    yield "| key | meaning | allowed | default |"
    yield "|---|---|---|---|"
    for key, entry in part["properties"].items():
        cells = (f"`{key}`", entry["description"], _allowed(entry), _default(entry.get("default")))
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _allowed(part: Mapping[str, Any]) -> str:
    if "oneOf" in part:
        return "; or ".join(map(_allowed, part["oneOf"]))
    if "enum" in part:
        return " or ".join(f"`{value}`" for value in part["enum"])
    if part["type"] == "array":
        return _list(part)
    if part["type"] == "object" and "required" in part:
        return "`{" + ", ".join(f"{key}: ..." for key in part["required"]) + "}`"
    if part["type"] == ["number", "object"]:
        placements = ", ".join(f"`{key}`" for key in part["properties"])
        return f"number{_bounds(part)}; or one for each of {placements}"
    if part["type"] == "object":
        return "a block of keys, see below"
    words = {"integer": "whole number", "number": "number", "string": "text", "boolean": "`true` or `false`"}
    return words[part["type"]] + _bounds(part)


def _list(part: Mapping[str, Any]) -> str:
    items, fewest, most = part["items"], part["minItems"], part.get("maxItems")
    if "enum" not in items:
        return f"a list, each {_allowed(items)}"
    counts = f"{fewest} to {most}" if most else f"{fewest} or more"
    return f"a list, {counts} of {', '.join(f'`{value}`' for value in items['enum'])}"


def _bounds(part: Mapping[str, Any]) -> str:
    if "minimum" in part:
        return f", {part['minimum']} or more"
    return f", more than {part['exclusiveMinimum']}" if "exclusiveMinimum" in part else ""


def _default(value: Any) -> str:
    if isinstance(value, dict) and value and set(value) <= set(schema.TIERS):
        return "<br>".join(f"{tier}: {_literal(value[tier])}" for tier in schema.TIERS if tier in value)
    return _literal(value)


def _literal(value: Any) -> str:
    """A value as one line of YAML, which ends a document of a single value with dots."""
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=math.inf)
    return f"`{text.strip().removesuffix('...').strip()}`"
