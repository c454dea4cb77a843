"""The commands that measure: one launch and its ranks, and what is built for their ceilings and entrants."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from crossover.cli.parser import Commands, add, interface, launcher


def add_to(commands: Commands) -> None:
    """Add them to the command line."""
    added = add(commands, "launch", _launch, "Supervise one launch: start its ranks, leave a raw file or a typed hole.")
    _of_launch(added)
    launcher(added)
    added.add_argument("--code", default="", help="a hash of the measuring code, for the record")
    added.add_argument(
        "--libraries", nargs="*", default=[], type=Path, help="the built libraries that its ceilings use"
    )
    added.add_argument("--output", required=True, type=Path, help="the raw file to write")
    added.add_argument("--log", required=True, type=Path, help="the log to write")

    added = add(commands, "measure", _measure, "Be one rank of a launch (started by the MPI launcher).")
    _of_launch(added)
    added.add_argument(
        "--processors", default=1, type=int, help="how many logical processors each rank must be free to use"
    )
    added.add_argument("--part", required=True, type=Path, help="where rank 0 writes its rows")
    added.add_argument("--refusal", required=True, type=Path, help="where a refusal is written")

    added = add(
        commands, "build", _build, "Compile one of the C sources of the ceilings, or record why that cannot be done."
    )
    added.add_argument("--library", required=True, type=Path, help="the library to write")
    added.add_argument("source", type=Path, help="the C source")

    added = add(commands, "libzmq-source", _libzmq_source, "Get the sources of a version of libzmq, or record why not.")
    added.add_argument("--version", required=True, help="the version, such as 2.2.0")
    added.add_argument("--origin", default="pip", help="`pip` to download it, or a folder that holds it")
    added.add_argument("--archive", required=True, type=Path, help="the archive to write")

    added = add(
        commands, "libzmq", _libzmq, "Build libzmq with another message struct, or record why that cannot be done."
    )
    added.add_argument("--archive", required=True, type=Path, help="the archive of its sources")
    added.add_argument(
        "--library", required=True, type=Path, help="the library to write: libzmq-VERSION-BYTES.so, or with -LAYOUT"
    )


def _of_launch(added: ArgumentParser) -> None:
    """What a launch's supervisor and its ranks are both told."""
    added.add_argument("--experiment", required=True, help="the experiment's name, such as mpi_pingpong")
    added.add_argument("--launch", required=True, type=int, help="the launch's number, from 1")
    added.add_argument("--settings", required=True, help="the launch's settings as JSON, its placement among them")
    interface(added, "its hosts")


def _launch(chosen: Namespace) -> int:
    from crossover.measure.launch.light_imports import without_pandas
    from crossover.measure.launch.supervisor import Job, supervise
    from crossover.planning.plan import read_settings

    without_pandas()
    job = Job(
        chosen.experiment,
        chosen.launch,
        mpi=chosen.mpi,
        settings=read_settings(chosen.settings),
        code=chosen.code,
        libraries=tuple(chosen.libraries),
        interface=chosen.interface,
    )
    return supervise(job, chosen.output, chosen.log)


def _measure(chosen: Namespace) -> int:
    from crossover.measure.launch.light_imports import without_pandas
    from crossover.measure.launch.pmi import shorten_values

    # Before what imports MPI.
    shorten_values()
    from crossover.measure.launch.rank import run
    from crossover.planning.plan import read_settings

    without_pandas()
    settings = read_settings(chosen.settings)
    return run(
        chosen.experiment, chosen.launch, settings, chosen.interface, chosen.processors, chosen.part, chosen.refusal
    )


def _build(chosen: Namespace) -> None:
    from crossover.measure.build import c_libraries

    if reason := c_libraries.build(chosen.source, chosen.library):
        print(f"{chosen.library}: not built, so its ceilings will not be measured: {reason}", file=sys.stderr)


def _libzmq_source(chosen: Namespace) -> None:
    from crossover.measure.build.libzmq import line, source

    if reason := source.fetch(line.LINES[chosen.version], chosen.archive, chosen.origin):
        print(f"{chosen.archive}: not fetched, so what needs it will not be measured: {reason}", file=sys.stderr)


def _libzmq(chosen: Namespace) -> None:
    from crossover.measure.build.libzmq import build

    if reason := build.build(chosen.library.stem, chosen.archive, chosen.library):
        print(f"{chosen.library}: not built, so what needs it will not be measured: {reason}", file=sys.stderr)
