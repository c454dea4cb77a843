"""A user's file: read and checked without running it, together with the files beside it that it imports."""

import ast
import keyword
import sys
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from crossover.design.config import OfUser
from crossover.design.experiments import declared
from crossover.design.settings import Settings

MOST_BYTES = 1_000_000
"""The files are stored with every launch."""


def experiments() -> dict[str, Mapping[str, str]]:
    """The experiments that measure a user's file, with the functions that each needs and their purposes."""
    every = {name: each.settings for name, each in declared().items() if each.of_user}
    return {name: own.needs for name, own in every.items() if issubclass(own, OfUser)}


def of_file(file: Path) -> list[str]:
    """The experiments whose functions a file has, which is known to be Python."""
    return [name for name, needs in experiments().items() if {*needs} <= _defined(file)]


def included(every: Mapping[str, Settings], file: str) -> dict[str, Settings]:
    """The experiments with the text of the user's file; those that need one are left out without it."""
    if not file:
        return {name: own for name, own in every.items() if not isinstance(own, OfUser)}
    path = Path(file).expanduser()
    texts, fitting = sources(path), of_file(path)
    return {
        name: replace(own, file=path.name, sources=texts) if isinstance(own, OfUser) else own
        for name, own in every.items()
        if name in fitting or not isinstance(own, OfUser)
    }


def faults(file: str) -> Iterator[str]:
    """The faults of a user's file, each in a line that names it; none without a file."""
    # A shell expands no ~ behind `own=`.
    path = Path(file).expanduser()
    if not file:
        return
    if not path.is_file():
        yield f"own: {file} is not there; name a Python file"
    elif path.suffix != ".py" or not path.stem.isidentifier() or _is_taken(path):
        yield f"own: {path.name} cannot be imported by this name; rename it, for example to my_work.py"
    else:
        try:
            ast.parse(_text(path))
            size = sum(len(text.encode()) for text in sources(path).values())
        except (OSError, SyntaxError, ValueError, MemoryError, RecursionError) as error:
            at = getattr(error, "lineno", None)
            line = f", line {at}" if at else ""
            said = getattr(error, "msg", str(error)) or "nested too deeply"
            yield f"own: {file}{line}: is no Python file ({said}); correct it"
            return
        if not of_file(path):
            yield f"own: {file}: {_lack(path)}"
        if size > MOST_BYTES:
            yield f"own: {file} and the files beside it have {size / 1e6:.1f} MB; move data out of them"


def _lack(file: Path) -> str:
    """What a file lacks for the experiment of which it has most functions, or for each."""
    every = experiments().values()
    lacks = [[purpose for name, purpose in needs.items() if name not in _defined(file)] for needs in every]
    begun = [lack for lack, needs in zip(lacks, every, strict=True) if len(lack) < len(needs)]
    return "add " + "; or add ".join(" and ".join(lack) for lack in begun[:1] or lacks)


def _is_taken(file: Path) -> bool:
    """Whether its name is a keyword of Python, or a module that is not the file."""
    name = file.stem
    if keyword.iskeyword(name) or name in {*sys.stdlib_module_names, "crossover"}:
        return True
    found = find_spec(name)
    # A folder without modules has no origin.
    origin = found.origin if found else None
    return origin is not None and Path(origin).resolve() != file.resolve()


def _text(file: Path) -> str:
    """The text of a file. Raises ValueError if it is not in UTF-8, in which launches write it."""
    with tokenize.open(file) as opened:
        if not opened.encoding.startswith("utf-8"):
            raise ValueError(f"it is in {opened.encoding}: save it as UTF-8, without a coding line")
        return opened.read()


@cache
def _defined(file: Path) -> frozenset[str]:
    return frozenset(_names(ast.parse(_text(file))))


@cache
def sources(file: Path) -> dict[str, str]:
    """The texts of a file and of the modules beside it that it imports, by their paths in its folder."""
    folder, found = file.parent, dict[str, str]()
    waiting = [file]
    while waiting:
        path = waiting.pop()
        name = path.relative_to(folder).as_posix()
        if name in found:
            continue
        found[name] = _text(path)
        for module in _imported(ast.parse(found[name])):
            near = folder / f"{module}.py"
            waiting += [near] if near.is_file() else sorted((folder / module).rglob("*.py"))
    return found


def _imported(tree: ast.Module) -> Iterator[str]:
    """The first parts of the names of imported modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def _names(tree: ast.Module) -> Iterator[str]:
    """The names that a module defines at its top, by `def`, assignment or import."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
