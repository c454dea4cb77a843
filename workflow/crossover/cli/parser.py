"""How a command joins the command line, and the arguments that several commands share."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

Commands: TypeAlias = "_SubParsersAction[ArgumentParser]"
"""The commands that the command line knows so far."""


def add(commands: Commands, name: str, run: Callable[[Namespace], int | None], text: str) -> ArgumentParser:
    """Add a command that `run` carries out: it gets the arguments, and gives an exit code, or None for 0."""
    added = commands.add_parser(name, help=text, description=text)
    added.set_defaults(run=run)
    return added


def results(added: ArgumentParser, default: Path | None = None) -> None:
    """The folder of results, which may be left out where it has a default."""
    added.add_argument(
        "results", nargs="?" if default else None, default=default, type=Path, help="the folder of results"
    )


def launcher(added: ArgumentParser) -> None:
    """The MPI launcher."""
    added.add_argument("--mpi", default="mpiexec", help="the MPI launcher (default: %(default)s)")


def interface(added: ArgumentParser, between: str) -> None:
    """The network interface between hosts."""
    added.add_argument(
        "--interface", default="auto", help=f"the network interface between {between} (default: %(default)s)"
    )
