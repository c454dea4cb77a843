"""Commands of the doctor, and the command that generates parts of the documentation."""

from argparse import Namespace

from crossover.cli.command import INTERFACE, MPI, command, path, value


@command(
    "--placement node --output node.json --log node.log",
    value("--placement", "`node` for one host, `nodes` for two"),
    INTERFACE,
    MPI,
    path("--output", "JSON file to write"),
    path("--log", "log file to write"),
)
def examine(chosen: Namespace) -> None:
    """Run a job of the doctor: start two ranks on one host or two, and record what works.

    To run every check, use snakemake -F doctor.
    """
    from crossover.doctor import job
    from crossover.measure.launch.light_imports import without_pandas

    without_pandas()
    job.examine(chosen.mpi, chosen.placement, chosen.interface, chosen.output, chosen.log)


@command(
    "compiler --output compiler.json",
    value("check", "compiler, quarto or queue"),
    path("--output", "JSON file to write"),
)
def check(chosen: Namespace) -> None:
    """Run a check of the doctor that needs no job, on this machine."""
    from crossover.doctor import checks, job

    job.write(checks.module(chosen.check).look(), chosen.output)


@command("")
def document(_: Namespace) -> None:
    """Write the generated files: config/README.md and reports/references.bib."""
    from crossover.config import reference_page, sources
    from crossover.paths import PROJECT

    reference_page.PAGE.write_text(reference_page.text(), encoding="utf-8")
    sources.BIBLIOGRAPHY.write_text(sources.bibliography(sources.read()), encoding="utf-8")
    print(f"wrote {reference_page.PAGE.relative_to(PROJECT)} and {sources.BIBLIOGRAPHY.relative_to(PROJECT)}")
