"""A new arm of an experiment: its name in the declaration, and a stub in the driver that runs as the reference.

A name is written only into lists of the experiment's own. Elsewhere the user reads which lines to change.
"""

import ast
import re
from collections.abc import Iterator
from importlib import import_module, reload
from inspect import get_annotations, getfile
from pathlib import Path
from typing import NamedTuple

from crossover import experiments
from crossover.errors import CrossoverError

STUB = """\
        if arm.runs == "{name}":  # Write the new arm here. Until then it runs as {reference} does.
            arm = Arm(arm.name, "{reference}")
"""


class Insertion(NamedTuple):
    """A text and its place: a line from 1 up, and a column in bytes."""

    line: int
    column: int
    text: str


def add(experiment: str, name: str) -> tuple[dict[Path, str], str]:
    """The changed files of the experiment with this arm, and the next steps. Raises CrossoverError if it has to be
    written by hand, with the lines."""
    known = experiments.of(experiment)
    settings = known.tiers.at("quick")
    _require(experiment, name)
    declaration = experiments.FOLDER / experiment / "__init__.py"
    driver = declaration.with_name("driver.py")
    field = next(Path(getfile(each)) for each in known.settings.__mro__ if "arms" in get_annotations(each))
    lists, runs = _lists(field), _runs(driver)
    written = all(isinstance(each, ast.Name | ast.Tuple | ast.Subscript) for each in lists)
    if field != declaration or not runs or not written:
        in_tiers = [(declaration, each.lineno) for each in _of_tiers(declaration)]
        places = [*dict.fromkeys([*((field, each.lineno) for each in lists), *in_tiers])]
        places += [(driver, each.lineno) for each in runs]
        raise CrossoverError(
            f"the arms of {experiment} are in lists that are shared or computed, so nothing was written; add {name!r} "
            "in these lines, and let the driver run it:\n" + "\n".join(_shown(*place) for place in places)
        )
    stub = STUB.format(name=name, reference=settings.reference)
    stubs = [Insertion(each.body[1].lineno, 0, stub) for each in runs]
    texts = {
        declaration: _inserted(declaration, [part for each in lists for part in _appended(each, name)]),
        driver: _inserted(driver, stubs),
    }
    lines = [each.line + 2 * before for before, each in enumerate(stubs)]
    text = next(each.lineno for each in lists)
    steps = [
        f"{name!r} is an arm of {experiment}, and runs as {settings.reference!r} does until you change these lines:"
    ]
    steps += [f"  {_short(driver)}:{line}: what one block of it does" for line in lines]
    steps += [
        f"  {_short(declaration)}:{text}: the text on the arms, to describe it; then: make docs",
        f"to run it: snakemake --profile profiles/local --config tier=smoke -- {experiment}",
    ]
    return texts, "\n".join(steps)


def read_again(experiment: str) -> None:
    """Read a declaration again, after its file has changed."""
    reload(import_module(f"{experiments.__name__}.{experiment}"))
    experiments.of.cache_clear()
    experiments.declared.cache_clear()


def _require(experiment: str, name: str) -> None:
    """Raise CrossoverError if the experiment cannot have an arm of this name."""
    known = experiments.of(experiment)
    if known.farming:
        raise CrossoverError(
            f"the arms of {experiment} are task farms: crossover new farm NAME writes one; docs/extending.md shows the "
            "lines of config/config.yaml that make it an arm"
        )
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 ._+/-]*[A-Za-z0-9]", name) or name == "null":
        raise CrossoverError(
            f"{name!r} cannot name an arm; use letters, digits, spaces and . _ + / -, such as 'nng ipc'"
        )
    if name in (*known.names("arms"), *known.names("ceilings")):
        raise CrossoverError(f"{name!r} is an arm or ceiling of {experiment} already; choose another name")


def _lists(file: Path) -> list[ast.expr]:
    """The lists of arms in a declaration: the names that exist, the default, and those of the tiers."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    fields = [
        each
        for each in ast.walk(tree)
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and each.target.id == "arms"
    ]
    names = [
        call.args[0]
        for field in fields
        for call in ast.walk(field.annotation)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute | ast.Name) and call.args
        if ast.unparse(call.func).endswith("OneOf")
    ]
    return [*names, *(field.value for field in fields if field.value), *_of_tiers(file)]


def _of_tiers(file: Path) -> list[ast.expr]:
    """The values of `arms=` in the tiers of a declaration."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return [each.value for each in ast.walk(tree) if isinstance(each, ast.keyword) and each.arg == "arms"]


def _runs(driver: Path) -> list[ast.FunctionDef]:
    """The functions of a driver that run a block, each with a docstring and a body."""
    return [
        each
        for each in ast.walk(ast.parse(driver.read_text(encoding="utf-8")))
        if isinstance(each, ast.FunctionDef)
        and each.name == "run"
        and [argument.arg for argument in each.args.args] == ["self", "cell", "arm", "n"]
        and ast.get_docstring(each)
        and len(each.body) > 1
    ]


def _appended(every: ast.expr, name: str) -> Iterator[Insertion]:
    """What makes a list end with this name."""
    if isinstance(every, ast.Tuple) and every.elts:
        last = every.elts[-1]
        apart = ", " if last.lineno == every.lineno else f",\n{' ' * last.col_offset}"
        yield Insertion(last.end_lineno or 0, last.end_col_offset or 0, f'{apart}"{name}"')
    else:
        yield Insertion(every.lineno, every.col_offset, "(*")
        yield Insertion(every.end_lineno or 0, every.end_col_offset or 0, f', "{name}")')


def _inserted(file: Path, insertions: list[Insertion]) -> str:
    lines = file.read_bytes().splitlines(keepends=True)
    for line, column, text in sorted(insertions, reverse=True):
        whole = lines[line - 1]
        lines[line - 1] = whole[:column] + text.encode() + whole[column:]
    return b"".join(lines).decode()


def _shown(file: Path, line: int) -> str:
    return f"  {_short(file)}:{line}: {file.read_text(encoding='utf-8').splitlines()[line - 1].strip()}"


def _short(file: Path) -> Path:
    from crossover.paths import PROJECT

    return file.relative_to(PROJECT)
