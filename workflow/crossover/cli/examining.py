"""The commands of the doctor, and the one that writes a generated page of the documentation."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from crossover.cli.parser import Commands, add, interface, launcher


def add_to(commands: Commands) -> None:
    """Add them to the command line."""
    added = add(commands, "examine", _examine, "Be a job of the doctor: see what ranks on one host or two come to.")
    added.add_argument("--placement", required=True, help="`node` for one host, `nodes` for two")
    interface(added, "them")
    launcher(added)
    added.add_argument("--output", required=True, type=Path, help="the facts to write")
    added.add_argument("--log", required=True, type=Path, help="the log to write")

    added = add(commands, "look", _look, "See something that concerns the machine on which Snakemake runs.")
    added.add_argument("check", help="what to look at, such as compiler")
    added.add_argument("--output", required=True, type=Path, help="the facts to write")

    add(commands, "document", _document, "Write the generated files: config/README.md and reports/references.bib.")


def _examine(chosen: Namespace) -> None:
    from crossover.doctor import examine, launching
    from crossover.measure.launch.light_imports import without_pandas

    without_pandas()
    asked = launching.Asked(chosen.placement, chosen.interface, chosen.output.parent.absolute())
    examine.examine(chosen.mpi, asked, chosen.output, chosen.log)


def _look(chosen: Namespace) -> None:
    from crossover.doctor import checks, examine

    examine.write(checks.module(chosen.check).look(), chosen.output)


def _document(_: Namespace) -> None:
    from crossover.config import reference_page, sources

    reference_page.PAGE.write_text(reference_page.text(), encoding="utf-8")
    sources.BIBLIOGRAPHY.write_text(sources.bibliography(sources.read()), encoding="utf-8")
