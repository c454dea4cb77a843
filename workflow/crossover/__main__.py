"""The command line. Snakemake calls most of it."""

import argparse
import signal
import sys

from crossover.cli import analysing, asking, extending, measuring, reporting
from crossover.cli.command import Command
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
        description="Measure where one way of exchanging messages in Python starts to beat another. "
        "To run everything, use Snakemake: snakemake --profile profiles/local. "
        "You type the commands compare, history, publish, bundle and new; Snakemake calls the others.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for group in (measuring, analysing, reporting, asking, extending):
        for each in vars(group).values():
            if isinstance(each, Command):
                each.add_to(commands)
    return parser


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        # The user pressed Ctrl-C: no message, and the exit code that a shell gives.
        sys.exit(128 + signal.SIGINT)
