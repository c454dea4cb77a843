"""Commands of the doctor, and the command that generates parts of the documentation."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from crossover.cli.parser import Commands, add, interface, launcher


def add_to(commands: Commands) -> None:
    """Add these commands to the command line."""
    added = add(
        commands,
        "examine",
        _examine,
        "Run a job of the doctor: start two ranks on one host or two, and record what works.",
        "--placement node --output node.json --log node.log",
        "To run every check, use snakemake -F doctor.",
    )
    added.add_argument("--placement", required=True, help="`node` for one host, `nodes` for two")
    interface(added)
    launcher(added)
    added.add_argument("--output", required=True, type=Path, help="JSON file to write")
    added.add_argument("--log", required=True, type=Path, help="log file to write")

    added = add(
        commands,
        "check",
        _check,
        "Run a check of the doctor that needs no job, on this machine.",
        "compiler --output compiler.json",
    )
    added.add_argument("check", help="compiler, quarto or queue")
    added.add_argument("--output", required=True, type=Path, help="JSON file to write")

    add(commands, "document", _document, "Write the generated files: config/README.md and reports/references.bib.", "")


def _examine(chosen: Namespace) -> None:
    from crossover.doctor import examine, launching
    from crossover.measure.launch.light_imports import without_pandas

    without_pandas()
    job = launching.Job(chosen.placement, chosen.interface, chosen.output.parent.absolute())
    examine.examine(chosen.mpi, job, chosen.output, chosen.log)


def _check(chosen: Namespace) -> None:
    from crossover.doctor import checks, examine

    examine.write(checks.module(chosen.check).look(), chosen.output)


def _document(_: Namespace) -> None:
    from crossover.config import reference_page, sources
    from crossover.paths import PROJECT

    reference_page.PAGE.write_text(reference_page.text(), encoding="utf-8")
    sources.BIBLIOGRAPHY.write_text(sources.bibliography(sources.read()), encoding="utf-8")
    print(f"wrote {reference_page.PAGE.relative_to(PROJECT)} and {sources.BIBLIOGRAPHY.relative_to(PROJECT)}")
