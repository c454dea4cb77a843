"""Adds commands to the command line, and the arguments that several commands share."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter, _SubParsersAction
from collections.abc import Callable
from pathlib import Path
from textwrap import fill
from typing import TypeAlias

Commands: TypeAlias = "_SubParsersAction[ArgumentParser]"
"""The commands added so far."""

TYPED = "PYTHONPATH=workflow python -m crossover"
"""The start of every command line, typed in the project's folder and environment."""


def add(
    commands: Commands,
    name: str,
    run: Callable[[Namespace], int | None],
    purpose: str,
    example: str,
    exceptions: str = "",
) -> ArgumentParser:
    """Add the command `name`. `run` takes its arguments and returns an exit code, or None for 0.

    The help shows the purpose (one sentence), one line to type that ends with `example`, then the exceptions.
    """
    parts = (fill(purpose), f"    {TYPED} {name} {example}".rstrip(), fill(exceptions))
    added = commands.add_parser(
        name,
        help=purpose,
        description="\n\n".join(filter(None, parts)),
        formatter_class=RawDescriptionHelpFormatter,
    )
    added.set_defaults(run=run)
    return added


def results(added: ArgumentParser, default: Path | None = None) -> None:
    """Add the argument for the folder of results; it is optional if it has a default."""
    added.add_argument(
        "results",
        nargs="?" if default else None,
        default=default,
        type=Path,
        help="folder of results" + (" (default: %(default)s)" if default else ""),
    )


def launcher(added: ArgumentParser) -> None:
    """Add the option for the MPI launcher."""
    added.add_argument("--mpi", default="mpiexec", help="MPI launcher, such as mpiexec (default: %(default)s)")


def interface(added: ArgumentParser) -> None:
    """Add the option for the network interface."""
    added.add_argument(
        "--interface", default="auto", help="network interface that connects the hosts (default: %(default)s)"
    )
