"""Hashes of the code that a result depends on: a module, and all modules of this package that it imports.

Snakemake knows a rule, but not the modules behind it. With this hash as a parameter of the rule, an edit reruns exactly
the jobs that depend on it, and a new time of a file reruns none.
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
        content.update(name.encode() + b"\0" + found[name].read_bytes() + b"\0")
    return content.hexdigest()[:16]


def of_launch(experiment: str, settings: Mapping[str, Any]) -> str:
    """The digest of the code that measures a launch of an experiment with these settings."""
    driver = f"crossover.measure.experiments.{experiment}"
    folder = PACKAGE / "measure" / "experiments" / experiment
    return digest(
        "crossover.measure.launch.supervisor",
        "crossover.measure.processes.starter",
        "crossover.measure.launch.rank",
        driver,
        # A process that the driver starts may run a module that no other imports.
        *(f"{driver}.{path.stem}" for path in folder.glob("*.py") if path.stem != "__init__"),
        *(f"crossover.measure.farms.{entrant['farm']}" for entrant in settings.get("entrants", {}).values()),
    )


def _source(name: str) -> Path | None:
    """The file of a module of this package; None for any other name."""
    package, *parts = name.split(".")
    if package != PACKAGE.name or not parts:
        return None
    stem = PACKAGE.joinpath(*parts)
    return next((path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.is_file()), None)


@cache
def _imports(source: Path) -> list[str]:
    """Every dotted name to which an import statement can refer."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return found
