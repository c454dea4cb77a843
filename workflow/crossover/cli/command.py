"""A command of the command line: a function with a line to type and its arguments."""

from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from dataclasses import dataclass
from inspect import getdoc
from pathlib import Path
from textwrap import fill
from typing import Any

TYPED = "PYTHONPATH=workflow python -m crossover"
"""The start of every command line, typed in the project's folder and environment."""

Argument = tuple[str, dict[str, Any]]
"""The name of an argument, and its settings for argparse."""

Run = Callable[[Namespace], int | None]


@dataclass(frozen=True)
class Command:
    """A command. `run` takes its arguments and returns an exit code, or None for 0.

    The help shows the first paragraph of `run`'s docstring, one line to type that ends with `example`, then the rest of
    the docstring.
    """

    run: Run
    example: str
    arguments: tuple[Argument, ...]

    def add_to(self, commands: Any) -> None:
        """Add the command to the `commands` of a parser."""
        name = self.run.__name__.replace("_", "-")
        purpose, _, rest = (getdoc(self.run) or "").partition("\n\n")
        parts = (fill(purpose), f"    {TYPED} {name} {self.example}".rstrip(), fill(rest))
        description = "\n\n".join(filter(None, parts))
        added = commands.add_parser(
            name, help=purpose, description=description, formatter_class=RawDescriptionHelpFormatter
        )
        for argument, settings in self.arguments:
            added.add_argument(argument, **settings)
        added.set_defaults(run=self.run)


def command(example: str, *arguments: Argument) -> Callable[[Run], Command]:
    """Make a command of a function, which has the command's name."""
    return lambda run: Command(run, example, arguments)


def value(name: str, help: str, **settings: Any) -> Argument:
    """An argument; an option without a default is required."""
    required = {"required": True} if name.startswith("--") and not settings.keys() & {"default", "action"} else {}
    return name, {"help": help, **required, **settings}


def path(name: str, help: str, **settings: Any) -> Argument:
    """An argument that is a path; an option without a default is required."""
    return value(name, help, type=Path, **settings)


RESULTS = path("results", "folder of results")
MPI = value("--mpi", "MPI launcher, such as mpiexec (default: %(default)s)", default="mpiexec")
INTERFACE = value("--interface", "network interface that connects the hosts (default: %(default)s)", default="auto")
