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


def digest(*modules: str) -> str:
    """A short hash of the sources of `modules` and of every module here that they import, directly or not."""
    return _digest(frozenset(modules))


@cache
def _digest(modules: frozenset[str]) -> str:
    found: dict[str, Path] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in found and (source := _source(name)):
            found[name] = source
            # An import of a module runs its parent packages too.
            waiting += [*_imports(source), name.rpartition(".")[0]]
    content = sha256()
    for name in sorted(found):
        content.update(name.encode() + b"\0" + _content(found[name]) + b"\0")
    return content.hexdigest()[:16]


def of_launch(experiment: str, settings: Mapping[str, Any]) -> str:
    """The digest of the code that measures a launch of an experiment with these settings."""
    driver = f"crossover.measure.experiments.{experiment}"
    return digest(
        "crossover.measure.launch.supervisor",
        "crossover.measure.processes.starter",
        "crossover.measure.launch.rank",
        driver,
        # A process that the driver starts may run a module that no other imports.
        *(f"{driver}.{part}" for part in _parts(experiment)),
        *(f"crossover.measure.farms.{entrant['farm']}" for entrant in settings.get("entrants", {}).values()),
    )


@cache
def _parts(experiment: str) -> tuple[str, ...]:
    """The modules in the folder of a driver; none if the driver is a single file."""
    folder = PACKAGE / "measure" / "experiments" / experiment
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
    return source.read_bytes()


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
