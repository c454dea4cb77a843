"""The commands on several runs: what changed between two, the course of many. They analyse and report in one."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path

from crossover.cli.parser import Commands, add


def add_to(commands: Commands) -> None:
    """Add them to the command line."""
    added = add(
        commands,
        "compare",
        _compare,
        "Tell what changed between two runs, such as two clusters, or one before and after an upgrade. Arms are "
        "compared by their ratios to the reference, curve by curve: better, worse, the same, or cannot tell. "
        "Writes parquet tables and a page; measures nothing.",
    )
    added.add_argument("before", type=Path, help="the folder of results of the first run, such as results.old")
    added.add_argument("after", type=Path, help="that of the second, such as results")
    added.add_argument(
        "--within",
        type=_fraction,
        default=0.1,
        metavar="FRACTION",
        help="the change that counts as the same, such as 0.05 for 5 %% (default: %(default)s)",
    )
    _folder(added, "results/comparison")

    added = add(
        commands,
        "history",
        _history,
        "Follow each arm's ratio to its reference through many runs, in order of time, and find the runs at which it "
        "came to another level. Six runs or more can show that. Writes parquet tables and a page; measures nothing.",
    )
    added.add_argument("runs", type=Path, nargs="+", help="the folders of results, in any order")
    _folder(added, "results/history")


def _folder(added: ArgumentParser, default: str) -> None:
    added.add_argument(
        "--folder", type=Path, default=Path(default), help="the folder to write to (default: %(default)s)"
    )


def _fraction(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise ArgumentTypeError(f"{text}: must be a fraction between 0 and 1, such as 0.1 for 10 %")
    return value


def _compare(chosen: Namespace) -> int:
    from crossover.analyse.compare import compare
    from crossover.report.runs import comparison, comparison_figures

    print(f"compare: reading {chosen.before} and {chosen.after}", file=sys.stderr)
    compare.compare(chosen.before, chosen.after, chosen.folder, chosen.within)
    comparison_figures.draw(chosen.folder)
    return _tell(chosen.folder, "changes.qmd", comparison.in_a_terminal(comparison.load(chosen.folder)))


def _history(chosen: Namespace) -> int:
    from crossover.analyse.compare import history
    from crossover.report.runs import history_figures, history_text

    print(f"history: reading {len(chosen.runs)} runs", file=sys.stderr)
    history.history(chosen.runs, chosen.folder)
    history_figures.draw(chosen.folder)
    return _tell(chosen.folder, "history.qmd", history_text.in_a_terminal(history_text.load(chosen.folder)))


def _tell(folder: Path, source: str, found: str) -> int:
    """Render the page on the tables in `folder`, then say on the terminal what was found and where the page is.

    The exit code is 1 if something is missing there because it failed.
    """
    from crossover.report.render import renderer
    from crossover.run import outcome

    page = folder / "index.html"
    failures = renderer.render(folder, page, source=source)
    print(f"{found}\nThe page: {page}")
    if failures:
        print(outcome.sentences(failures), file=sys.stderr)
    return int(bool(failures))
