"""Commands that share a finished run."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from crossover.cli.parser import Commands, add, results

RESULTS = Path("results")


def add_to(commands: Commands) -> None:
    """Add these commands to the command line."""
    added = add(
        commands,
        "publish",
        _publish,
        "Publish the report: push it to a branch, or write a folder or a zip file for a web server.",
        "--to site/",
        "Asks before it pushes. Measures and renders nothing. Refuses a report that is older than its data.",
    )
    results(added, RESULTS)
    added.add_argument(
        "--to",
        default="gh-pages",
        help="gh-pages to push, or a folder (site/) or a zip file (site.zip) (default: %(default)s)",
    )
    added.add_argument("--remote", default="origin", help="remote to push to (default: %(default)s)")
    added.add_argument("--branch", default="gh-pages", help="branch to push to (default: %(default)s)")
    added.add_argument("--yes", action="store_true", help="push without asking")

    added = add(
        commands,
        "bundle",
        _bundle,
        "Archive a run in one zip file, for others to check and render again.",
        "--license CC-BY-4.0 --author 'Ada Lovelace <0000-0002-1825-0097>'",
        "Holds raw samples, tables, figures, report, configuration, locked versions, checksums and an RO-Crate.",
    )
    results(added, RESULTS)
    added.add_argument("--output", type=Path, help="archive to write (default: RESULTS/bundle.zip)")
    added.add_argument(
        "--license", default="BSD-3-Clause", help="SPDX name of the data's licence (default: %(default)s)"
    )
    added.add_argument(
        "--author",
        action="append",
        default=[],
        help="an author of the data, `Name` or `Name <ORCID>`; repeat for several",
    )


def _publish(chosen: Namespace) -> None:
    from crossover.share.publish import publish

    print(publish.publish(chosen.results, chosen.to, chosen.remote, chosen.branch, chosen.yes))


def _bundle(chosen: Namespace) -> None:
    from crossover.share.bundle import bundle, crate

    attribution = crate.Attribution(chosen.license, chosen.author)
    print(bundle.write(chosen.results, chosen.output or chosen.results / "bundle.zip", attribution))
