"""Hashes of the code that a result depends on: a module, and all modules of this package that it imports.

Snakemake knows a rule, but not the modules behind it. With this hash as a parameter of the rule, an edit reruns exactly
the jobs that depend on it, and a new time of a file reruns none.

A process reads each file once, and so knows the code as it was when the process first asked for it.
"""

import ast
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from crossover.paths import PACKAGE

TIERS = ("SMOKE", "QUICK", "STANDARD", "PAPER")
"""The defaults of an experiment, in its declaration."""

READER = "crossover.design.experiments"
"""The module that reads the declarations of experiments, which are in its folder."""


def digest(*modules: str) -> str:
    """A short hash of the sources of `modules` and of every module here that they import, directly or not."""
    found = _sources(frozenset(modules))
    # Who reads the declarations depends on all of them, and on their prose.
    every = [path for kind in ("__init__.py", "*.md") for path in _folder().glob(f"*/{kind}") if READER in found]
    read = {str(path.relative_to(PACKAGE)): path.read_bytes() for path in every}
    return _hashed(read | {name: _content(source) for name, source in found.items()})


def _folder() -> Path:
    return PACKAGE / "experiments"


@cache
def _sources(modules: frozenset[str]) -> dict[str, Path]:
    """The files of these modules and of those that they import, by name."""
    found: dict[str, Path] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in found and (source := _source(name)):
            found[name] = source
            # An import of a module runs its parent packages too.
            waiting += [*_imports(source), name.rpartition(".")[0]]
    return found


def _hashed(texts: Mapping[str, bytes]) -> str:
    content = sha256()
    for name in sorted(texts):
        content.update(name.encode() + b"\0" + texts[name] + b"\0")
    return content.hexdigest()[:16]


def of_launch(experiment: str, entrants: Mapping[str, Mapping[str, Any]]) -> str:
    """The digest of the code that measures a launch of an experiment with these task farms."""
    folder = f"crossover.experiments.{experiment}"
    modules = (
        "crossover.measure.launch.supervisor",
        "crossover.measure.launch.starter",
        "crossover.measure.launch.rank",
        # The driver, and modules of its own: a process that it starts may run one that no other imports.
        *(f"{folder}.{part}" for part in _parts(experiment)),
        *(f"crossover.farms.{entrant['farm']}.farm" for entrant in entrants.values()),
    )
    return _of_launch(frozenset(modules))


@cache
def _of_launch(modules: frozenset[str]) -> str:
    # Of declarations, only its own.
    return _hashed({name: _content(source) for name, source in _sources(modules).items()})


@cache
def _parts(experiment: str) -> tuple[str, ...]:
    """The modules in the folder of an experiment, without its declaration."""
    folder = _folder() / experiment
    return tuple(path.stem for path in folder.glob("*.py") if path.stem != "__init__")


@cache
def _source(name: str) -> Path | None:
    """The file of a module of this package; None for any other name."""
    package, *parts = name.split(".")
    if package != PACKAGE.name or not parts:
        return None
    stem = PACKAGE.joinpath(*parts)
    return next((path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.is_file()), None)


@cache
def _content(source: Path) -> bytes:
    content = source.read_bytes()
    declares = source.parent.parent == _folder() and source.stem == "__init__"
    return _measured(content) if declares else content


def _measured(declaration: bytes) -> bytes:
    """What a launch uses of an experiment's declaration: a new title, place or text of a setting changes no result.

    The settings themselves are compared one by one.
    """
    kept: list[ast.AST] = []
    for node in ast.parse(declaration).body:
        name = node.targets[0].id if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) else ""
        if isinstance(node, ast.Assign) and name == "EXPERIMENT":
            words = node.value.keywords if isinstance(node.value, ast.Call) else []
            kept += [word for word in words if word.arg in ("axis", "metrics", "built")]
        elif isinstance(node, ast.ClassDef):
            kept += [each for each in node.body if not isinstance(each, ast.AnnAssign | ast.Expr)]
        elif name in TIERS:
            continue
        elif not isinstance(node, ast.Expr):
            kept.append(node)
    return "\n".join(map(ast.dump, kept)).encode()


@cache
def _imports(source: Path) -> list[str]:
    """Every dotted name to which an import statement can refer."""
    found: list[str] = []
    for node in ast.walk(ast.parse(_content(source))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return found
