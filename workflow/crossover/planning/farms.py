"""The options, packages and hosts of a task farm, read from its file.

An import would need the farm's libraries, which may be missing here and are slow to load.
"""

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from crossover.errors import CrossoverError
from crossover.paths import PACKAGE

FOLDER = PACKAGE / "measure" / "farms"

TYPES: dict[str, dict[str, Any]] = {
    "bool": {"type": "boolean"},
    "float": {"type": "number"},
    "int": {"type": "integer", "minimum": 0},
    "str": {"type": "string"},
}
"""The JSON Schema of an option, by its type."""

EXAMPLES = {"AUTHENTICATES": "False", "ONE_HOST": "True", "PACKAGES": '("numpy",)'}
"""A value of each constant of a farm, for errors."""


def names() -> list[str]:
    """The names of all farms."""
    return sorted(path.stem for path in FOLDER.glob("[a-z]*.py"))


def options(farm: str) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """The options of a farm's entrants as JSON Schema, and the names of the required ones.

    They are the arguments of its `Entrant` after `ranks`: `bool`, `float`, `int`, `str`, or `Literal` for a choice.
    """
    given = _arguments(FOLDER / f"{farm}.py")
    if not given:
        return {}, []
    first, arguments = given
    own, by_name = [*arguments.posonlyargs, *arguments.args][first:], arguments.kwonlyargs
    required = own[: max(0, len(own) - len(arguments.defaults))]
    required += [each for each, default in zip(by_name, arguments.kw_defaults, strict=True) if default is None]
    return {each.arg: _allowed(each.annotation) for each in [*own, *by_name]}, [each.arg for each in required]


def _arguments(file: Path) -> tuple[int, ast.arguments] | None:
    """The place of the first argument after `ranks`, and all arguments of a farm's `Entrant`, a class or a function."""
    for node in _tree(file).body:
        if isinstance(node, ast.FunctionDef) and node.name == "Entrant":
            return 2, node.args
        for part in node.body if isinstance(node, ast.ClassDef) and node.name == "Entrant" else []:
            if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                return 3, part.args
    return None


def packages(farm: str) -> tuple[str, ...]:
    """The packages whose versions can change a farm's results: its PACKAGES."""
    return tuple(constant(FOLDER / f"{farm}.py", "PACKAGES") or ())


def crosses_hosts(entrant: Mapping[str, Any]) -> bool:
    """Whether an entrant's engines can be on other hosts: ONE_HOST is neither True nor an option that it sets."""
    one_host = constant(FOLDER / f"{entrant['farm']}.py", "ONE_HOST")
    return not (entrant.get(one_host) if isinstance(one_host, str) else one_host)


def authenticates(entrant: Mapping[str, Any]) -> bool:
    """Whether an entrant's farm obeys nobody but its launch: AUTHENTICATES is not False, and no option set to false."""
    stated = constant(FOLDER / f"{entrant['farm']}.py", "AUTHENTICATES")
    return bool(entrant.get(stated, True) if isinstance(stated, str) else stated in (None, True))


def require_readable(farm: str) -> None:
    """Raise CrossoverError if a constant of a farm's file cannot be read."""
    for name in EXAMPLES:
        constant(FOLDER / f"{farm}.py", name)


@cache
def constant(file: Path, name: str) -> Any:
    """The value of a constant in a source file; None if the file does not have it, or does not exist.

    Raises CrossoverError if it is not one literal: its value is then known only to those who run the file.
    """
    tree = _tree(file)
    lines = [node.lineno for node in ast.walk(tree) if _names(node, name)]  # type: ignore[attr-defined]
    if not lines:
        return None
    values = [value for node in tree.body if (value := _value(node, name))]
    try:
        if len(lines) == len(values) == 1:
            return ast.literal_eval(values[0])
    except (TypeError, ValueError):
        pass
    raise CrossoverError(
        f"{file}, line {max(lines)}: {name} is not a single literal, and the file is read without being run; write one "
        f"line at the top level, such as `{name} = {EXAMPLES.get(name, '...')}`"
    )


def _names(node: ast.AST, name: str) -> bool:
    """Whether a part of a source gives something this name: by any assignment, or by an import."""
    if isinstance(node, ast.alias):
        return name == (node.asname or node.name)
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)


def _value(node: ast.stmt, name: str) -> ast.expr | None:
    """The value that a statement assigns to this name alone, with or without an annotation."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return getattr(node, "value", None) if [ast.unparse(target) for target in targets] == [name] else None


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
