"""The command line. Snakemake calls most of it."""

from __future__ import annotations

import argparse
import signal
import sys

from crossover.cli import analysing, comparing, examining, extending, measuring, reporting, sharing
from crossover.errors import CrossoverError


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    chosen = _parser().parse_args(arguments)
    try:
        return int(chosen.run(chosen) or 0)
    except CrossoverError as error:
        print(f"crossover {chosen.command}: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="crossover",
        description="Measures where one way of moving Python messages starts to beat another. "
        "You will mostly want Snakemake: snakemake --profile profiles/local. "
        "The commands below are the steps of that workflow; compare, history, publish, bundle and new are for you.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for group in (measuring, analysing, reporting, comparing, sharing, examining, extending):
        group.add_to(commands)
    return parser


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        # Whoever pressed Ctrl-C knows; as a shell says it.
        sys.exit(128 + signal.SIGINT)
