"""Commands that measure: one launch, its ranks, and the libraries built for them."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from crossover.cli.parser import Commands, add, interface, launcher


def add_to(commands: Commands) -> None:
    """Add these commands to the command line."""
    added = add(
        commands,
        "launch",
        _launch,
        "Measure one launch, and write its raw file.",
        "--experiment mpi_pingpong --launch 1 --settings SETTINGS --output raw.parquet --log launch.log",
        "If the launch fails, the raw file is a hole with the reason, and the exit code is 0.",
    )
    _of_launch(added)
    launcher(added)
    added.add_argument("--code", default="", help="hash of the measuring code, to be recorded")
    added.add_argument("--libraries", nargs="*", default=[], type=Path, help="built libraries that the launch uses")
    added.add_argument("--output", required=True, type=Path, help="raw file to write")
    added.add_argument("--log", required=True, type=Path, help="log file to write")

    added = add(
        commands,
        "rank",
        _rank,
        "Run one rank of a launch; `launch` starts it through the MPI launcher.",
        "--experiment mpi_pingpong --launch 1 --settings SETTINGS --part raw.part --refusal refusal.json",
    )
    _of_launch(added)
    added.add_argument(
        "--processors", default=1, type=int, help="logical processors that each rank must be able to use (default: 1)"
    )
    added.add_argument("--part", required=True, type=Path, help="file for the rows of rank 0")
    added.add_argument("--refusal", required=True, type=Path, help="file for the reason of a refusal")

    added = add(
        commands,
        "build",
        _build,
        "Compile a C source of the ceilings.",
        "--library zmq_push_pull.so workflow/native/zmq_push_pull.c",
        "If that fails, the library file holds the reason, and the exit code is 0.",
    )
    added.add_argument("--library", required=True, type=Path, help="library to write")
    added.add_argument("source", type=Path, help="C source")

    added = add(
        commands,
        "libzmq-source",
        _libzmq_source,
        "Get the sources of a version of libzmq.",
        "--version 2.2.0 --archive libzmq-2.2.0.tar.gz",
        "If that fails, the archive holds the reason, and the exit code is 0.",
    )
    added.add_argument("--version", required=True, help="version, such as 2.2.0")
    added.add_argument(
        "--origin", default="pip", help="`pip` to download the sources, or a folder that holds them (default: pip)"
    )
    added.add_argument("--archive", required=True, type=Path, help="archive to write")

    added = add(
        commands,
        "libzmq",
        _libzmq,
        "Build libzmq with a message struct of another size.",
        "--archive libzmq-2.2.0.tar.gz --library libzmq-2.2.0-64.so",
        "If that fails, the library file holds the reason, and the exit code is 0.",
    )
    added.add_argument("--archive", required=True, type=Path, help="archive of the sources")
    added.add_argument(
        "--library", required=True, type=Path, help="library to write: libzmq-VERSION-BYTES.so or ...-BYTES-LAYOUT.so"
    )


def _of_launch(added: ArgumentParser) -> None:
    """Add the arguments that the supervisor and the ranks share."""
    added.add_argument("--experiment", required=True, help="name of the experiment, such as mpi_pingpong")
    added.add_argument("--launch", required=True, type=int, help="number of the launch, from 1")
    added.add_argument("--settings", required=True, help="settings of the launch, as JSON, including `placement`")
    interface(added)


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


def _rank(chosen: Namespace) -> int:
    from crossover.measure.launch.light_imports import without_pandas
    from crossover.measure.launch.pmi import shorten_values

    # Before any module that imports MPI.
    shorten_values()
    from crossover.measure.launch.rank import run
    from crossover.planning.plan import read_settings

    without_pandas()
    settings = read_settings(chosen.settings)
    return run(
        chosen.experiment, chosen.launch, settings, chosen.interface, chosen.processors, chosen.part, chosen.refusal
    )


def _build(chosen: Namespace) -> None:
    from crossover.measure.build import compiler

    if reason := compiler.build(chosen.source, chosen.library):
        print(f"{chosen.library}: not built, so its ceilings will not be measured: {reason}", file=sys.stderr)


def _libzmq_source(chosen: Namespace) -> None:
    from crossover.measure.build.libzmq import build, line

    if reason := build.fetch(line.LINES[chosen.version], chosen.archive, chosen.origin):
        print(
            f"{chosen.archive}: not fetched, so the arms that need it will not be measured: {reason}",
            file=sys.stderr,
        )


def _libzmq(chosen: Namespace) -> None:
    from crossover.measure.build.libzmq import build

    if reason := build.build(chosen.library.stem, chosen.archive, chosen.library):
        print(
            f"{chosen.library}: not built, so the arms that need it will not be measured: {reason}",
            file=sys.stderr,
        )
