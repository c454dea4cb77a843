"""The experiments, a folder each: what it is (`__init__.py`), how it is measured (`driver.py`), its prose (`page.md`).

No module lists them: a folder here is an experiment, and none imports another. Only drivers are slow to load.
"""

import json
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from traceback import extract_tb

from crossover.design.experiment import Experiment
from crossover.design.launch import Launch
from crossover.errors import CrossoverError

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """The name of every experiment, in alphabetical order."""
    return sorted(found.name for found in iter_modules(__path__))


@cache
def declared() -> dict[str, Experiment]:
    """The declaration of every experiment, by its name, in the order of their places."""
    every = {name: of(name) for name in names()}
    return dict(sorted(every.items(), key=lambda entry: entry[1].place))


@cache
def of(name: str) -> Experiment:
    """The declaration of one experiment, without loading others.

    Raises CrossoverError if there is none, and for a mistake in it, with its file and line.
    """
    if name not in names():
        raise CrossoverError(f"unknown experiment {name!r}; available: {', '.join(declared())}")
    file = FOLDER / name / "__init__.py"
    try:
        found: Experiment = import_module(f"{__name__}.{name}").EXPERIMENT
        found.require_sane()
    except Exception as mistake:
        lines = [str(frame.lineno) for frame in extract_tb(mistake.__traceback__) if Path(frame.filename) == file]
        raise CrossoverError(f"{':'.join([str(file), *lines[-1:]])}: {mistake}") from mistake
    return found


def read_launch(file: Path) -> Launch:
    """The launch of a file with `Launch.stored`. Raises CrossoverError for a file of another kind."""
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        experiment, placement, number = told["experiment"], told["placement"], told["launch"]
        settings = of(experiment).settings.read(told["settings"])
        if not (isinstance(number, int) and settings.placement == placement):
            raise TypeError(file)
        return Launch(experiment, placement, number, settings)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CrossoverError(f"{file}: describes no launch; delete it, and repeat the command") from error


def prose(name: str, file: str) -> str:
    """The text of a file such as page.md in an experiment's folder; empty without it."""
    path = FOLDER / name / file
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def leads() -> dict[str, str]:
    """The leading metric of each experiment, which stands for it in summaries."""
    return {name: each.leading for name, each in declared().items()}


def subject(name: str) -> str:
    """What an experiment compares, in the user's words; its name in words if it is not one of ours."""
    return declared()[name].subject if name in declared() else name.replace("_", " ")
