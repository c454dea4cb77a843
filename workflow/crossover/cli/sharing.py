"""The commands that carry a finished run to others."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from crossover.cli.parser import Commands, add, results

RESULTS = Path("results")


def add_to(commands: Commands) -> None:
    """Add them to the command line."""
    added = add(
        commands,
        "publish",
        _publish,
        "Publish the report: push it to a branch that is served as a web site, or write a folder or a zip file for any "
        "web server. Nothing is measured or rendered; a report that is older than its data is refused.",
    )
    results(added, RESULTS)
    added.add_argument(
        "--to", default="gh-pages", help="gh-pages, a folder (site/) or a zip file (site.zip) (default: %(default)s)"
    )
    added.add_argument("--remote", default="origin", help="the remote to push to (default: %(default)s)")
    added.add_argument("--branch", default="gh-pages", help="the branch to push to (default: %(default)s)")
    added.add_argument("--yes", action="store_true", help="push without asking")

    added = add(
        commands,
        "bundle",
        _bundle,
        "Archive a run in a zip file: raw samples, tables, figures, report, configuration, an RO-Crate.",
    )
    results(added, RESULTS)
    added.add_argument("--output", type=Path, help="the archive to write (default: RESULTS/bundle.zip)")
    added.add_argument(
        "--license", default="BSD-3-Clause", help="the licence of the data, as SPDX names it (default: %(default)s)"
    )
    added.add_argument(
        "--author", action="append", default=[], help="who measured, `Name` or `Name <ORCID>`; once for each"
    )


def _publish(chosen: Namespace) -> None:
    from crossover.share.publish import publish

    print(publish.publish(chosen.results, chosen.to, chosen.remote, chosen.branch, chosen.yes))


def _bundle(chosen: Namespace) -> None:
    from crossover.share.bundle import bundle, crate

    told = crate.Told(chosen.license, chosen.author)
    print(bundle.write(chosen.results, chosen.output or chosen.results / "bundle.zip", told))
