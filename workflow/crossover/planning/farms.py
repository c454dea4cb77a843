"""The options, packages and hosts of a task farm, read from its file.

An import would need the farm's libraries, which may be missing here and are slow to load.
"""

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from crossover.paths import PACKAGE

FOLDER = PACKAGE / "measure" / "farms"

TYPES: dict[str, dict[str, Any]] = {
    "bool": {"type": "boolean"},
    "float": {"type": "number"},
    "int": {"type": "integer", "minimum": 0},
    "str": {"type": "string"},
}
"""The JSON Schema of an option, by its type."""


def names() -> list[str]:
    """The names of all farms."""
    return sorted(path.stem for path in FOLDER.glob("[a-z]*.py"))


def options(farm: str) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """The options of a farm's entrants as JSON Schema, and the names of the required ones.

    They are the arguments of its `Entrant` after `ranks`: `bool`, `float`, `int`, `str`, or `Literal` for a choice.
    """
    entrants = [node for node in _tree(FOLDER / f"{farm}.py").body if getattr(node, "name", "") == "Entrant"]
    for node in entrants[0].body if entrants and isinstance(entrants[0], ast.ClassDef) else []:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            own = node.args.args[3:]
            required = own[: max(0, len(own) - len(node.args.defaults))]
            return {each.arg: _allowed(each.annotation) for each in own}, [each.arg for each in required]
    return {}, []


def packages(farm: str) -> tuple[str, ...]:
    """The packages whose versions can change a farm's results: its PACKAGES."""
    return tuple(constant(FOLDER / f"{farm}.py", "PACKAGES") or ())


def crosses_hosts(entrant: Mapping[str, Any]) -> bool:
    """Whether an entrant's engines can be on other hosts: ONE_HOST is neither True nor an option that it sets."""
    one_host = constant(FOLDER / f"{entrant['farm']}.py", "ONE_HOST")
    return not (entrant.get(one_host) if isinstance(one_host, str) else one_host)


def constant(file: Path, name: str) -> Any:
    """The value of a constant in a source file; None if the file does not have it, or does not exist."""
    for node in _tree(file).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [name]:
            return ast.literal_eval(node.value)
    return None


@cache
def _tree(file: Path) -> ast.Module:
    """A source; empty if there is no such file. The check of the configuration reports unknown farms."""
    return ast.parse(file.read_text(encoding="utf-8") if file.is_file() else "")


def _allowed(annotation: ast.expr | None) -> dict[str, Any]:
    """The values that an annotation allows, as JSON Schema; any, for an annotation that is not in TYPES."""
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Literal":
        choices = ast.literal_eval(annotation.slice)
        return {"enum": list(choices) if isinstance(choices, tuple) else [choices]}
    return TYPES.get(ast.unparse(annotation), {}) if annotation else {}
