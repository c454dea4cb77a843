"""A command of the command line: a function with a line to type and its arguments."""

from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from dataclasses import dataclass
from inspect import getdoc
from pathlib import Path
from textwrap import fill
from typing import Any

TYPED = "crossover"
"""The start of every command line."""

ANSWERS, PAGES, EXTENDING = GROUPS = ("Answers", "Runs and pages", "Extending")
"""The groups of commands in the help."""

STEPS = ""
"""The group of commands that only Snakemake calls; the help does not list them."""

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
    group: str

    @property
    def name(self) -> str:
        return self.run.__name__.rstrip("_").replace("_", "-")

    @property
    def purpose(self) -> str:
        """The first paragraph of the docstring, as one line."""
        return " ".join((getdoc(self.run) or "").partition("\n\n")[0].split())

    @property
    def line(self) -> str:
        return f"{TYPED} {self.name} {self.example}".rstrip()

    def add_to(self, commands: Any) -> None:
        """Add the command to the `commands` of a parser."""
        rest = (getdoc(self.run) or "").partition("\n\n")[2]
        description = "\n\n".join(filter(None, (fill(self.purpose), f"    {self.line}", fill(rest))))
        added = commands.add_parser(self.name, description=description, formatter_class=RawDescriptionHelpFormatter)
        for argument, settings in self.arguments:
            added.add_argument(argument, **settings)
        added.set_defaults(run=self.run)


def command(example: str, *arguments: Argument, group: str = ANSWERS) -> Callable[[Run], Command]:
    """Make a command of a function, which has the command's name."""
    return lambda run: Command(run, example, arguments, group)


def step(example: str, *arguments: Argument) -> Callable[[Run], Command]:
    """Make a command that only Snakemake calls."""
    return command(example, *arguments, group=STEPS)


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
