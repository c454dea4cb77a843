"""Commands that report on one run: figures, the ladder, the page."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from crossover.cli.parser import Commands, add, results


def add_to(commands: Commands) -> None:
    """Add these commands to the command line."""
    added = add(
        commands,
        "figures",
        _figures,
        "Draw the figures of an experiment from its tables.",
        "--folder figures results/experiments/mpi_pingpong",
    )
    added.add_argument("--folder", required=True, type=Path, help="folder to write the figures to")
    added.add_argument("tables", type=Path, help="folder of the experiment's tables")

    added = add(
        commands, "ladder", _ladder, "Draw the round-trip time of every measured layer.", "--folder figures results"
    )
    added.add_argument("--folder", required=True, type=Path, help="folder to write the figure to")
    results(added)

    added = add(
        commands,
        "report",
        _report,
        "Render the report of a run from its folder of results, or from a bundle.",
        "--from bundle.zip --page report.html",
        "If a part of the page fails, the page names it and the exit code is 1.",
    )
    source = added.add_mutually_exclusive_group(required=True)
    source.add_argument("results", nargs="?", type=Path, help="folder of results")
    source.add_argument("--from", dest="bundle", metavar="BUNDLE", type=Path, help="bundle, instead of a folder")
    added.add_argument("--page", required=True, type=Path, help="page to write")
    added.add_argument("--waiting", default="{}", help="what higher tiers and clusters would measure, as JSON")
    added.add_argument("--go-on", action="store_true", help="exit with 0 even if a part of the page fails")


def _figures(chosen: Namespace) -> None:
    from crossover.report.charts import figures

    figures.draw(chosen.tables, chosen.folder)


def _ladder(chosen: Namespace) -> None:
    from crossover.report.charts import ladder

    ladder.draw(chosen.results, chosen.folder)


def _report(chosen: Namespace) -> int:
    if chosen.bundle:
        from crossover.share.bundle import rerender

        message, failures = rerender.report(chosen.bundle, chosen.page)
        print(message)
    else:
        from crossover.report.render import renderer

        failures = renderer.render(chosen.results, chosen.page, chosen.waiting)
    if not failures or chosen.go_on:
        return 0
    from crossover.run import outcome

    print(outcome.sentences(failures), file=sys.stderr)
    return 1
