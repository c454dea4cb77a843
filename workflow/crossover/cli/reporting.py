"""The commands that report on one run: figures, the ladder, the page."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from crossover.cli.parser import Commands, add, results


def add_to(commands: Commands) -> None:
    """Add them to the command line."""
    added = add(commands, "figures", _figures, "Draw an experiment's figures from its tables.")
    added.add_argument("--folder", required=True, type=Path, help="the folder to write the figures to")
    added.add_argument("tables", type=Path, help="the experiment's folder of tables")

    added = add(commands, "ladder", _ladder, "Draw what a round trip costs in every layer that was measured.")
    added.add_argument("--folder", required=True, type=Path, help="the folder to write the figure to")
    results(added)

    added = add(
        commands, "report", _report, "Render the report from a folder of results, or from a bundle of somebody's."
    )
    source = added.add_mutually_exclusive_group(required=True)
    source.add_argument("results", nargs="?", type=Path, help="the folder of results")
    source.add_argument("--from", dest="bundle", metavar="BUNDLE", type=Path, help="the bundle, instead of a folder")
    added.add_argument("--page", required=True, type=Path, help="the page to write")
    added.add_argument("--waiting", default="{}", help="what higher tiers, and clusters, would measure, as JSON")
    added.add_argument(
        "--go-on", action="store_true", help="end with exit code 0 although a part failed; the workflow tells of it"
    )


def _figures(chosen: Namespace) -> None:
    from crossover.report.charts import figures

    figures.draw(chosen.tables, chosen.folder)


def _ladder(chosen: Namespace) -> None:
    from crossover.report.charts import ladder

    ladder.draw(chosen.results, chosen.folder)


def _report(chosen: Namespace) -> int:
    if chosen.bundle:
        from crossover.share.bundle import rerender

        said, failures = rerender.report(chosen.bundle, chosen.page)
        print(said)
    else:
        from crossover.report.render import renderer

        failures = renderer.render(chosen.results, chosen.page, chosen.waiting)
    if not failures or chosen.go_on:
        return 0
    from crossover.run import outcome

    print(outcome.sentences(failures), file=sys.stderr)
    return 1
