"""The command line. Snakemake calls most of it."""

import argparse
import os
import signal
import sys
from collections.abc import Iterator

from crossover.cli import analysing, asking, extending, measuring, reporting, trying
from crossover.cli.command import GROUPS, Command
from crossover.errors import CrossoverError, printable

PURPOSE = "Measure where one way of exchanging messages in Python starts to beat another."


def run() -> int:
    """Run the command that the user typed, and return its exit code."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        code = main()
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        # The user pressed Ctrl-C: no message, and the exit code that a shell gives.
        return 128 + signal.SIGINT
    except BrokenPipeError:
        # The reader, such as `head`, has enough; Python would try to write the rest again at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = _parser()
    chosen, others = parser.parse_known_args(arguments)
    if others and (not hasattr(chosen, "words") or any(word.startswith("-") for word in others)):
        parser.error(f"unrecognized arguments: {' '.join(others)}")
    # argparse takes the words of a question only up to the next option.
    vars(chosen).setdefault("words", []).extend(others)
    if chosen.command is None:
        parser.print_help()
        return 0
    try:
        return int(chosen.run(chosen) or 0)
    except CrossoverError as error:
        print(printable(f"crossover {chosen.command}: {error}"), file=sys.stderr)
        return 1


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        # Imported here, because it is slow.
        from importlib.metadata import version

        print("crossover", version("crossover"))
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="crossover",
        usage="crossover [-h] command ...",
        description=f"{PURPOSE}\nTo measure, use Snakemake: snakemake --profile profiles/local",
        epilog="\n\n".join([*_listed(), "For the options of a command: crossover command --help"]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    # The epilog lists the commands instead of argparse, which knows no groups.
    commands = parser.add_subparsers(prog="crossover", dest="command", help=argparse.SUPPRESS)
    for each in _commands():
        each.add_to(commands)
    return parser


def _commands() -> Iterator[Command]:
    for module in (measuring, analysing, trying, reporting, asking, extending):
        yield from (each for each in vars(module).values() if isinstance(each, Command))


def _listed() -> Iterator[str]:
    """The commands that people type, a paragraph for each group: their examples and purposes."""
    for group in GROUPS:
        lines = (f"  {each.line}\n      {each.purpose}" for each in _commands() if each.group == group)
        yield "\n".join([f"{group}:", *lines])


if __name__ == "__main__":
    sys.exit(run())
