"""Commands that analyse several runs and report on them: compare two, or follow many."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path

from crossover.cli.parser import Commands, add


def add_to(commands: Commands) -> None:
    """Add these commands to the command line."""
    added = add(
        commands,
        "compare",
        _compare,
        "Compare two runs, such as before and after an upgrade, or of two clusters.",
        "results.old results",
        "Calls each arm's ratio to the reference better, worse, the same or undecided, curve by curve. Writes "
        "parquet tables and a page; measures nothing.",
    )
    added.add_argument("before", type=Path, help="results of the first run, such as results.old")
    added.add_argument("after", type=Path, help="results of the second run, such as results")
    added.add_argument(
        "--within",
        type=_fraction,
        default=0.1,
        metavar="FRACTION",
        help="largest change that counts as the same, such as 0.05 for 5 %% (default: %(default)s)",
    )
    _folder(added, "results/comparison")

    added = add(
        commands,
        "history",
        _history,
        "Follow each arm's ratio to the reference through many runs, and detect where it shifted.",
        "results.*",
        "Orders the runs by time; needs six to detect a shift. Writes parquet tables and a page; measures nothing.",
    )
    added.add_argument("runs", type=Path, nargs="+", help="folders of results, in any order")
    _folder(added, "results/history")


def _folder(added: ArgumentParser, default: str) -> None:
    added.add_argument("--folder", type=Path, default=Path(default), help="folder to write to (default: %(default)s)")


def _fraction(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise ArgumentTypeError(f"{text!r} is not between 0 and 1; write 0.1 for 10 %")
    return value


def _compare(chosen: Namespace) -> int:
    from crossover.analyse.compare import compare
    from crossover.report.pages import changes
    from crossover.report.runs import comparison

    print(f"compare: reading {chosen.before} and {chosen.after}", file=sys.stderr)
    compare.compare(chosen.before, chosen.after, chosen.folder, chosen.within)
    changes.draw(chosen.folder)
    return _report(chosen.folder, "changes.qmd", comparison.in_a_terminal(comparison.load(chosen.folder)))


def _history(chosen: Namespace) -> int:
    from crossover.analyse.compare import history as analysis
    from crossover.report.pages import history as charts
    from crossover.report.runs import history

    print(f"history: reading {len(chosen.runs)} runs", file=sys.stderr)
    analysis.history(chosen.runs, chosen.folder)
    charts.draw(chosen.folder)
    return _report(chosen.folder, "history.qmd", history.in_a_terminal(history.load(chosen.folder)))


def _report(folder: Path, source: str, found: str) -> int:
    """Render the page on the tables in `folder`; print the findings and the path of the page.

    Returns the exit code: 1 if a part of the page failed.
    """
    from crossover.report.render import renderer
    from crossover.run import outcome

    page = folder / "index.html"
    failures = renderer.render(folder, page, source=source)
    print(f"{found}\nPage: {page}")
    if failures:
        print(outcome.sentences(failures), file=sys.stderr)
    return int(bool(failures))
